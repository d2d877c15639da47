const NUM_RANKS = 10

function write_cell(cell, value) {
  const [word, mark] = value ?? [null, ""]
  const key = word === null ? "" : (mark || " ") + word
  if (cell.dataset.key === key) return
  cell.dataset.key = key
  cell.replaceChildren()
  cell.className = word === null ? "blank" : {"+": "new", "↑": "risen"}[mark] ?? ""
  if (word === null) return
  if (mark === "") { cell.textContent = word; return }
  const sign = document.createElement("span")
  sign.textContent = mark
  sign.setAttribute("aria-hidden", "true")
  const text = document.createElement(mark === "+" ? "strong" : "span")
  text.textContent = word
  const said = document.createElement("span")
  said.className = "said"
  said.textContent = mark === "+" ? " (new)" : " (risen)"
  cell.append(sign, text, said)
}

const SLIDE = {duration: 700, easing: "ease-out"}

// Words of a new column come from their ranks in the column before; new words fade in.
function slide(cell, word, rank, before) {
  if (word === null || matchMedia("(prefers-reduced-motion: reduce)").matches) return
  const start = before.indexOf(word)
  const moved = `translate(${-cell.offsetWidth}px, ${(start - rank) * cell.offsetHeight}px)`
  cell.animate([start < 0 ? {opacity: 0} : {transform: moved, opacity: 0.5}, {transform: "none", opacity: 1}], SLIDE)
}

export function render({ model }) {
  const head = make("tr", {})
  const caption = make("caption", {class: "said"},
    "The ten top words of each selected topic, with a column for each checkpoint. Words that were not in the column before are marked as new; words that rose by two ranks or more are marked as risen.")
  const table = make("table", {}, caption, make("thead", {}, head))
  const scroller = make("div", {class: "scroller", tabindex: "0", role: "region", "aria-label": "Word lists over time"}, table)
  const empty = make("p", {class: "empty"})
  const bodies = new Map()
  let follows = true
  let shown = -2
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

  function write_block(body, block, newest) {
    const before = newest > 0 ? block.cells.map(row => row[newest - 1]?.[0]) : []
    const title = body.rows[0].cells[0]
    title.colSpan = model.columns.length + 1
    const [chip, name, note] = title.firstChild.children
    chip.style.background = block.color
    body.style.setProperty("--topic", block.color)
    put(name, block.title)
    put(note, block.note)
    for (let rank = 0; rank < NUM_RANKS; rank++) {
      const row = body.rows[rank + 1]
      while (row.cells.length > model.columns.length + 1) row.lastChild.remove()
      while (row.cells.length < model.columns.length + 1) row.append(make("td", {class: "blank"}))
      for (let i = 0; i < model.columns.length; i++) {
        const cell = row.cells[i + 1]
        write_cell(cell, block.cells[rank][i])
        cell.classList.toggle("now", i === newest)
        if (i === newest && newest === shown + 1) slide(cell, block.cells[rank][i]?.[0] ?? null, rank, before)
      }
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
    const newest = model.columns.filter(column => column.reached).length - 1
    const wanted = new Set(model.blocks.map(block => block.topic_id))
    for (const [id, body] of bodies) if (!wanted.has(id)) { body.remove(); bodies.delete(id) }
    model.blocks.forEach((block, index) => {
      if (!bodies.has(block.topic_id)) bodies.set(block.topic_id, make_body(block))
      const body = bodies.get(block.topic_id)
      if (table.tBodies[index] !== body) table.insertBefore(body, table.tBodies[index] ?? null)
      write_block(body, block, newest)
    })
    shown = newest
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
