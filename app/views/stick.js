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
    piece.share = 0
    piece.addEventListener("click", () => model.send_msg({key}))
    piece.addEventListener("pointerenter", () => point(piece))
    piece.addEventListener("focus", () => { let_focus(piece); point(piece) })
    return piece
  }

  function lay_out() {
    stick.style.gridTemplateColumns = [...stick.children].map(piece => `${100 * piece.share}%`).join(" ")
  }

  // A new piece grows from nothing, unless it is among the first. One that leaves shrinks to nothing, and is removed at the
  // next change.
  function write() {
    const is_first = stick.firstChild === null
    for (const piece of [...stick.children]) {
      if (piece.disabled) piece.remove()
      else if (!model.ids.includes(piece.key)) {
        pieces.delete(piece.key)
        piece.disabled = true
        piece.setAttribute("aria-hidden", "true")
      }
    }
    model.ids.forEach((key, index) => {
      if (pieces.has(key)) return
      const next = model.ids.slice(index + 1).map(id => pieces.get(id)).find(Boolean)
      pieces.set(key, make_piece(key))
      stick.insertBefore(pieces.get(key), next ?? null)
    })
    // Columns only change gradually from as many columns as there will be.
    if (!is_first) {
      lay_out()
      stick.offsetWidth
    }
    for (const piece of stick.children) if (piece.disabled) piece.share = 0
    model.ids.forEach((key, index) => {
      const piece = pieces.get(key)
      piece.style.background = model.colors[index]
      piece.style.color = model.inks[index]
      piece.share = model.shares[index]
      const title = model.titles[index]
      put(piece.firstChild, title)
      piece.setAttribute("aria-label", `${title}: ${(100 * piece.share).toFixed(1)} %`)
    })
    lay_out()
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
  model.on(["ids", "shares", "titles"], once_per_change(write))
  model.on(["topic", "pointed"], mark)
  write()
  return make("div", {class: "room"}, stick, tip)
}
