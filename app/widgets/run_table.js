const SURE_MILLISECONDS = 4000

export function render({ model }) {
  const body = make("tbody", {})
  const head = make("tr", {}, make("th", {scope: "col"}, "Curve"),
    ...model.columns.map(name => make("th", {scope: "col"}, name)), make("th", {scope: "col"}, "Open"),
    make("th", {scope: "col"}, "Delete"))
  const table = make("table", {}, make("thead", {}, head), body)
  const scroller = make("div", {class: "scroller", role: "region", tabindex: "0", "aria-label": "Kept runs"}, table)
  const empty = make("p", {})
  const items = new Map()

  function make_item(key) {
    const tick = make("input", {type: "checkbox"})
    const chip = make("span", {class: "chip", "aria-hidden": "true"})
    const name = make("textarea", {rows: "2", maxlength: "60"})
    const note = make("div", {class: "note"})
    const open = make("button", {type: "button"}, "Open")
    const remove = make("button", {type: "button", class: "remove"}, "Delete")
    const cells = model.columns.slice(1).map(name => make("td", {"data-column": name}))
    const send = (what, value) => model.send_msg({do: what, key, value})
    tick.addEventListener("change", () => send("tick", tick.checked))
    name.addEventListener("change", () => send("rename", name.value))
    open.addEventListener("click", () => send("open", null))
    name.addEventListener("keydown", event => {
      event.stopPropagation()
      // A name is one line, which is broken to fit.
      if (event.key === "Enter") { event.preventDefault(); name.blur() }
    })
    remove.addEventListener("click", () => {
      if (remove.textContent === "Delete") {
        put(remove, "Confirm")
        setTimeout(() => put(remove, "Delete"), SURE_MILLISECONDS)
      } else send("delete", null)
    })
    const node = make("tr", {}, make("td", {}, make("label", {}, tick, chip)),
      make("th", {scope: "row"}, name, note), ...cells,
      make("td", {class: "press"}, open), make("td", {class: "press"}, remove))
    return {node, tick, chip, name, note, cells, open, remove}
  }

  function write_item(item, row) {
    item.tick.checked = row.is_ticked
    item.tick.setAttribute("aria-label", `Show the curve of ${row.title}`)
    item.chip.style.background = row.color || "transparent"
    if (item.name.getRootNode().activeElement !== item.name) item.name.value = row.name
    item.name.placeholder = row.label
    item.name.title = row.label
    item.name.readOnly = item.remove.disabled = model.is_fixed
    item.name.setAttribute("aria-label", `Name of ${row.label}`)
    item.open.disabled = model.is_fixed || !row.has_model
    item.open.title = row.has_model ? "" : "The model of this run is not on disk."
    item.open.setAttribute("aria-label", `Open ${row.title}`)
    item.remove.setAttribute("aria-label", `Delete ${row.title}`)
    const details = [row.name ? row.label : "", row.note].filter(Boolean).join("; ")
    put(item.note, details)
    row.cells.forEach((text, place) => put(item.cells[place], text))
  }

  // After a row is deleted, the focus moves to the row in its place.
  function find_focus() {
    const focused = body.getRootNode().activeElement?.closest?.("tr")
    return focused ? [...body.children].indexOf(focused) : -1
  }

  function write() {
    const place = find_focus()
    const wanted = new Set(model.rows.map(row => row.key))
    for (const [key, item] of items) if (!wanted.has(key)) { item.node.remove(); items.delete(key) }
    model.rows.forEach((row, index) => {
      if (!items.has(row.key)) items.set(row.key, make_item(row.key))
      const item = items.get(row.key)
      if (body.children[index] !== item.node) body.insertBefore(item.node, body.children[index] ?? null)
      write_item(item, row)
    })
    put(empty, model.rows.length ? "" : model.empty)
    scroller.hidden = model.rows.length === 0
    if (place >= 0 && find_focus() < 0) body.children[Math.min(place, body.children.length - 1)]?.querySelector(".remove").focus()
  }

  model.on(["rows", "empty", "is_fixed"], write)
  write()
  return make("div", {}, scroller, empty)
}
