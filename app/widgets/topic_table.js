export function render({ model }) {
  // What the table is sorted by: the place of a column, and whether the largest value is first.
  let sorted = {place: 0, falls: true}
  const body = make("tbody", {})
  const heads = model.columns.map((name, place) => {
    const button = make("button", {type: "button"}, name)
    button.addEventListener("click", () => {
      sorted = {place, falls: sorted.place === place ? !sorted.falls : true}
      write()
    })
    return make("th", {scope: "col"}, button)
  })
  const head = make("tr", {}, make("th", {scope: "col"}, "Topic"), ...heads, make("th", {scope: "col"}, "Top ten words"))
  const table = make("table", {}, make("thead", {}, head), body)
  const scroller = make("div", {class: "scroller", role: "region", tabindex: "0", "aria-label": "Topics in use"}, table)
  const empty = make("p", {})
  const items = new Map()

  function make_item(key) {
    const chip = make("span", {class: "chip", "aria-hidden": "true"})
    const button = make("button", {type: "button"})
    const mark = make("span", {class: "mark"})
    const cells = model.columns.map(name => make("td", {"data-column": name}))
    const words = make("td", {class: "words"})
    button.addEventListener("click", () => model.send_msg({key}))
    const node = make("tr", {}, make("th", {scope: "row"}, chip, button, mark), ...cells, words)
    return {node, chip, button, mark, cells, words}
  }

  function write_item(item, row) {
    item.chip.style.background = row.color
    put(item.button, row.title)
    item.button.setAttribute("aria-pressed", String(row.key === model.chosen))
    put(item.mark, row.mark)
    row.cells.forEach((text, place) => put(item.cells[place], text))
    const place = model.columns.indexOf("Over time")
    if (place >= 0 && row.line?.length) item.cells[place].replaceChildren(draw_line(row.line, row.color, row.cells[place]))
    write_words(item.words, row)
  }

  // Words that are in the lists of nearly all runs with the topic are bold, the others grey.
  function write_words(cell, row) {
    const text = `${row.words}|${row.marks}`
    if (cell.dataset.text === text) return
    cell.dataset.text = text
    cell.replaceChildren(...row.words.split(", ").flatMap((word, place) => [
      ...place ? [", "] : [], make(row.marks[place] === "constant" ? "b" : "span", {class: row.marks[place]}, word)
    ]))
  }

  // The text of the cell is the name of the drawing.
  function draw_line(values, color, text) {
    const [width, height] = [110, 20], step = width / (values.length - 1)
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg")
    const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline")
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title")
    title.textContent = text
    svg.setAttribute("viewBox", `0 -1 ${width} ${height + 2}`)
    svg.setAttribute("role", "img")
    line.setAttribute("points", values.map((value, i) => `${i * step},${height * (1 - value)}`).join(" "))
    line.setAttribute("style", `fill: none; stroke: ${color}; stroke-width: 1.5`)
    svg.append(title, line)
    return svg
  }

  // Rows without a value come last in both directions.
  function compare(one, other) {
    const [a, b] = [one.values[sorted.place], other.values[sorted.place]]
    if (a === null || b === null) return (a === null) - (b === null)
    return sorted.falls ? b - a : a - b
  }

  function write() {
    heads.forEach((node, place) => {
      if (place === sorted.place) node.setAttribute("aria-sort", sorted.falls ? "descending" : "ascending")
      else node.removeAttribute("aria-sort")
    })
    const is_empty = heads.map((_, place) => model.rows.every(row => row.cells[place] === ""))
    heads.forEach((node, place) => { node.hidden = is_empty[place] })
    const wanted = new Set(model.rows.map(row => row.key))
    for (const [key, item] of items) if (!wanted.has(key)) { item.node.remove(); items.delete(key) }
    const rows = [...model.rows].sort(compare)
    rows.forEach((row, index) => {
      if (!items.has(row.key)) items.set(row.key, make_item(row.key))
      const item = items.get(row.key)
      if (body.children[index] !== item.node) body.insertBefore(item.node, body.children[index] ?? null)
      write_item(item, row)
      item.cells.forEach((cell, place) => { cell.hidden = is_empty[place] })
    })
    put(empty, model.rows.length ? "" : model.empty)
    scroller.hidden = model.rows.length === 0
  }

  model.on(["rows", "chosen", "empty"], write)
  write()
  return make("div", {}, scroller, empty)
}
