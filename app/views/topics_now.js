function make(tag, attributes, ...children) {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value)
  node.append(...children)
  return node
}

function put(node, text) { if (node.textContent !== text) node.textContent = text }

export function render({ model }) {
  const list = make("ol", {})
  const empty = make("p", {})
  const items = new Map()

  function make_item(row) {
    const button = make("button", {type: "button"}, "show in table")
    button.setAttribute("aria-label", `Show topic ${row.topic_id} in the table`)
    button.addEventListener("click", () => model.send_msg({topic_id: row.topic_id}))
    const bar = make("span", {class: "bar", "aria-hidden": "true"}, make("span", {style: `background: ${row.color}`}))
    const head = make("div", {class: "head"}, make("span", {class: "chip", style: `background: ${row.color}`, "aria-hidden": "true"}),
      make("strong", {}, `topic ${row.topic_id}`), make("span", {class: "weight"}), bar, button)
    return make("li", {}, head, make("p", {class: "words"}))
  }

  function write_item(item, row) {
    const [, , weight, bar] = item.firstChild.children
    put(weight, row.weight)
    const width = `${(100 * row.share).toFixed(1)}%`
    if (bar.firstChild.style.width !== width) bar.firstChild.style.width = width
    put(item.lastChild, row.words)
  }

  function write() {
    const wanted = new Set(model.rows.map(row => row.topic_id))
    for (const [id, item] of items) if (!wanted.has(id)) { item.remove(); items.delete(id) }
    model.rows.forEach((row, index) => {
      if (!items.has(row.topic_id)) items.set(row.topic_id, make_item(row))
      const item = items.get(row.topic_id)
      if (list.children[index] !== item) list.insertBefore(item, list.children[index] ?? null)
      write_item(item, row)
    })
    put(empty, model.empty)
    empty.hidden = model.empty === ""
    list.hidden = model.rows.length === 0
  }

  model.on(["rows", "empty"], write)
  write()
  return make("div", {}, list, empty)
}
