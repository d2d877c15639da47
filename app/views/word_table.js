const NUM_RANKS = 10

function put(node, text) { if (node.textContent !== text) node.textContent = text }

function write_cell(cell, value) {
  const [word, is_new] = value ?? [null, false]
  const key = word === null ? "" : (is_new ? "+" : " ") + word
  if (cell.dataset.key === key) return
  cell.dataset.key = key
  cell.replaceChildren()
  cell.className = word === null ? "blank" : is_new ? "new" : ""
  if (word === null) return
  if (!is_new) { cell.textContent = word; return }
  const plus = document.createElement("span")
  plus.textContent = "+"
  plus.setAttribute("aria-hidden", "true")
  const strong = document.createElement("strong")
  strong.textContent = word
  const said = document.createElement("span")
  said.className = "said"
  said.textContent = " (new)"
  cell.append(plus, strong, said)
}

function make(tag, attributes, ...children) {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value)
  node.append(...children)
  return node
}

export function render({ model }) {
  const head = make("tr", {})
  const caption = make("caption", {class: "said"},
    "Ten top words of each chosen topic, a column for each checkpoint; a word that the column before lacks is marked as new")
  const table = make("table", {}, caption, make("thead", {}, head))
  const scroller = make("div", {class: "scroller", tabindex: "0", role: "region", "aria-label": "Word lists over time"}, table)
  const empty = make("p", {class: "empty"})
  const bodies = new Map()
  let follows = true
  for (const event of ["wheel", "touchstart", "pointerdown", "keydown"]) {
    scroller.addEventListener(event, () => { follows = false }, {passive: true})
  }

  function write_head() {
    while (head.children.length > model.columns.length + 1) head.lastChild.remove()
    if (!head.children.length) head.append(make("th", {scope: "col", class: "rank"}, make("span", {class: "said"}, "Rank")))
    model.columns.forEach((column, index) => {
      let cell = head.children[index + 1]
      if (!cell) {
        cell = make("th", {scope: "col"}, make("span", {class: "documents"}), make("span", {class: "date"}))
        head.append(cell)
      }
      cell.className = column.reached ? "" : "planned"
      put(cell.children[0], column.documents)
      put(cell.children[1], column.date)
    })
  }

  function make_body(block) {
    const title = make("th", {scope: "rowgroup", class: "title"}, make("div", {class: "name"},
      make("span", {class: "chip", "aria-hidden": "true"}), make("strong", {}), make("span", {class: "note"})))
    const body = make("tbody", {}, make("tr", {}, title))
    for (let rank = 0; rank < NUM_RANKS; rank++) body.append(make("tr", {}, make("th", {scope: "row", class: "rank"}, `${rank + 1}`)))
    return body
  }

  function write_block(body, block) {
    const title = body.rows[0].cells[0]
    title.colSpan = model.columns.length + 1
    const [chip, name, note] = title.firstChild.children
    chip.style.background = block.color
    put(name, block.title)
    put(note, block.note)
    for (let rank = 0; rank < NUM_RANKS; rank++) {
      const row = body.rows[rank + 1]
      while (row.cells.length > model.columns.length + 1) row.lastChild.remove()
      while (row.cells.length < model.columns.length + 1) row.append(make("td", {class: "blank"}))
      for (let i = 0; i < model.columns.length; i++) write_cell(row.cells[i + 1], block.cells[rank][i])
    }
  }

  function follow() {
    if (!follows) return
    const reached = head.querySelectorAll("th:not(.planned):not(.rank)")
    const newest = reached[reached.length - 1]
    scroller.scrollLeft = newest ? Math.max(0, newest.offsetLeft + newest.offsetWidth - scroller.clientWidth) : 0
  }

  function write() {
    write_head()
    const wanted = new Set(model.blocks.map(block => block.topic_id))
    for (const [id, body] of bodies) if (!wanted.has(id)) { body.remove(); bodies.delete(id) }
    model.blocks.forEach((block, index) => {
      if (!bodies.has(block.topic_id)) bodies.set(block.topic_id, make_body(block))
      const body = bodies.get(block.topic_id)
      if (table.tBodies[index] !== body) table.insertBefore(body, table.tBodies[index] ?? null)
      write_block(body, block)
    })
    put(empty, model.empty)
    empty.hidden = model.empty === ""
    follow()
  }

  let is_pending = false
  const schedule = () => {
    if (is_pending) return
    is_pending = true
    queueMicrotask(() => { is_pending = false; write() })
  }
  model.on(["columns", "blocks", "empty"], schedule)
  write()
  requestAnimationFrame(follow)
  return make("div", {class: "frame"}, scroller, empty)
}
