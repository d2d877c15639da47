const LEAVE_MILLISECONDS = 500

export function render({ model }) {
  const stick = make("div", {class: "stick", role: "group", "aria-label": "Topics by share"})
  const tip = make("div", {class: "tip", "aria-hidden": "true", hidden: ""})
  const pieces = new Map()
  const tell = make_teller(model)

  function point(piece) {
    tip.hidden = piece === null
    if (piece !== null) {
      put(tip, piece.getAttribute("aria-label"))
      const middle = piece.offsetLeft + piece.offsetWidth / 2 - tip.offsetWidth / 2
      tip.style.left = `${Math.max(0, Math.min(middle, stick.clientWidth - tip.offsetWidth))}px`
    }
    tell(piece === null ? null : piece.key)
  }

  // One piece takes part in the order of the Tab key; arrow keys move to the others.
  function let_focus(piece) {
    for (const each of stick.children) each.tabIndex = each === piece ? 0 : -1
  }

  function make_piece(key) {
    const piece = make("button", {type: "button", tabindex: "-1"}, make("span", {}))
    piece.key = key
    piece.style.width = "0%"
    piece.addEventListener("click", () => model.send_msg({key}))
    piece.addEventListener("pointerenter", () => point(piece))
    piece.addEventListener("focus", () => { let_focus(piece); point(piece) })
    return piece
  }

  function write() {
    const wanted = new Set(model.ids)
    for (const [key, piece] of pieces) {
      if (wanted.has(key)) continue
      pieces.delete(key)
      piece.style.width = "0%"
      piece.disabled = true
      setTimeout(() => piece.remove(), LEAVE_MILLISECONDS)
    }
    model.ids.forEach((key, index) => {
      if (!pieces.has(key)) pieces.set(key, make_piece(key))
      const piece = pieces.get(key)
      if (!piece.parentNode) {
        const next = model.ids.slice(index + 1).map(id => pieces.get(id)).find(each => each?.parentNode)
        stick.insertBefore(piece, next ?? null)
        piece.offsetWidth
      }
      piece.style.background = model.colors[index]
      piece.style.color = model.inks[index]
      piece.style.width = `${100 * model.shares[index]}%`
      const title = model.titles[index]
      put(piece.firstChild, title)
      piece.setAttribute("aria-label", `${title}: ${(100 * model.shares[index]).toFixed(1)} %`)
    })
    if (!stick.querySelector("[tabindex='0']:not(:disabled)") && stick.firstChild) let_focus(stick.querySelector(":enabled"))
    mark()
  }

  function mark() {
    stick.classList.toggle("pointing", pieces.has(model.pointed))
    for (const [key, piece] of pieces) {
      piece.classList.toggle("pointed", key === model.pointed)
      piece.setAttribute("aria-pressed", String(key === model.topic))
    }
  }

  stick.addEventListener("keydown", event => {
    const others = [...stick.querySelectorAll(":enabled")]
    const place = others.indexOf(stick.getRootNode().activeElement)
    const moved = {ArrowRight: (place + 1) % others.length, ArrowLeft: place - 1, Home: 0, End: others.length - 1}[event.key]
    if (moved === undefined) return
    event.preventDefault()
    others.at(moved)?.focus()
  })
  stick.addEventListener("pointerleave", () => point(null))
  stick.addEventListener("focusout", () => point(null))
  model.on(["ids", "shares", "titles"], write)
  model.on(["topic", "pointed"], mark)
  write()
  return make("div", {class: "room"}, stick, tip)
}
