export function render({ model }) {
  const list = make("ol", {})
  const note = make("p", {})
  const items = new Map()
  const tell = make_teller(model)

  function point(key) {
    if (model.tells_pointed) tell(key)
  }

  function make_item(row) {
    const button = make("button", {type: "button"})
    button.addEventListener("click", () => model.send_msg({key: row.key}))
    const bar = make("span", {class: "bar", "aria-hidden": "true"}, make("span", {}))
    const head = make("div", {class: "head"}, make("span", {class: "chip", "aria-hidden": "true"}),
      make("strong", {}), make("span", {class: "weight"}), bar, button)
    const item = make("li", {}, head, make("p", {class: "words"}))
    item.addEventListener("mouseenter", () => point(row.key))
    item.addEventListener("focusin", () => point(row.key))
    return item
  }

  function write_item(item, row) {
    const [chip, title, weight, bar, button] = item.firstChild.children
    put(title, row.title)
    item.classList.toggle("short", row.button !== undefined)
    item.classList.toggle("pointed", row.key === model.pointed)
    title.title = row.button === undefined ? "" : row.title
    put(weight, row.weight)
    put(button, row.button ?? row.action)
    button.setAttribute("aria-label", `${row.action}: ${row.title}`)
    for (const node of [chip, bar.firstChild]) if (node.style.background !== row.color) node.style.background = row.color
    chip.hidden = bar.hidden = weight.hidden = row.color === ""
    const width = `${(100 * row.share).toFixed(1)}%`
    if (bar.firstChild.style.width !== width) bar.firstChild.style.width = width
    put(item.lastChild, row.words)
  }

  // After a pressed row is removed, the focus moves to the row in its place.
  function find_focus() {
    const focused = list.getRootNode().activeElement?.closest?.("li")
    return focused ? [...list.children].indexOf(focused) : -1
  }

  function write() {
    const place = find_focus()
    const wanted = new Set(model.rows.map(row => row.key))
    for (const [key, item] of items) if (!wanted.has(key)) { item.remove(); items.delete(key) }
    model.rows.forEach((row, index) => {
      if (!items.has(row.key)) items.set(row.key, make_item(row))
      const item = items.get(row.key)
      if (list.children[index] !== item) list.insertBefore(item, list.children[index] ?? null)
      write_item(item, row)
    })
    put(note, model.note)
    note.hidden = model.note === ""
    list.hidden = model.rows.length === 0
    if (place >= 0 && find_focus() < 0) list.children[Math.min(place, list.children.length - 1)]?.querySelector("button").focus()
  }

  list.addEventListener("mouseleave", () => point(null))
  list.addEventListener("focusout", () => point(null))
  model.on(["rows", "note", "pointed"], write)
  write()
  return make("div", {}, note, list)
}
