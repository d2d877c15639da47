// Before the scripts of pages that work without a server: curves as SVG.
const SVG = "http://www.w3.org/2000/svg"
const percent = (share) => (100 * share).toFixed(1) + " %"
const number = (value) => value.toLocaleString("en")

function draw(tag, attributes, text) {
  const node = document.createElementNS(SVG, tag)
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value)
  if (text !== undefined) node.textContent = text
  return node
}

const W = 460, H = 190, LEFT = 58, RIGHT = 10, TOP = 8, BOTTOM = 24

// A curve over the documents that have been read, after those of other runs; `move` shows a moment on it.
function chart(curve, total) {
  const lines = [curve.points, ...curve.earlier]
  const ys = lines.flat().map((point) => point[1])
  const xMax = Math.max(total, 1, ...lines.flat().map((point) => point[0]))
  let low = curve.fromZero ? 0 : Math.min(...ys), high = Math.max(...ys)
  if (!(high > low)) high = low + 1
  const x = (seen) => LEFT + seen / xMax * (W - LEFT - RIGHT)
  const y = (value) => H - BOTTOM - (value - low) / (high - low) * (H - TOP - BOTTOM)
  const last = curve.points.at(-1)
  const label = `${curve.title}, ${curve.unit}; last value ${last ? last[1].toFixed(curve.digits) : "none"}`
  const svg = draw("svg", {viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": label})
  for (const value of [low, (low + high) / 2, high]) {
    svg.append(draw("line", {class: "axis", x1: LEFT, x2: W - RIGHT, y1: y(value), y2: y(value)}))
    svg.append(draw("text", {x: LEFT - 6, y: y(value) + 4, "text-anchor": "end"}, value.toFixed(curve.digits)))
  }
  svg.append(draw("text", {x: LEFT, y: H - 6}, "0"))
  svg.append(draw("text", {x: W - RIGHT, y: H - 6, "text-anchor": "end"}, `${number(xMax)} documents read`))
  for (const points of curve.earlier) svg.append(line(points, "earlier", x, y))
  svg.append(line(curve.points, "run", x, y))
  const mark = draw("line", {class: "here", y1: TOP, y2: H - BOTTOM})
  svg.append(mark)
  const move = (seen) => { mark.setAttribute("x1", x(seen)); mark.setAttribute("x2", x(seen)) }
  return {move, figure: make("figure", {}, make("h3", {}, curve.title), make("p", {class: "soft"}, curve.unit), svg)}
}

function line(points, name, x, y) {
  return draw("polyline", {class: name, points: points.map(([seen, value]) => `${x(seen)},${y(value)}`).join(" ")})
}
