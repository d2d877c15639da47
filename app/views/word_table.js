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

// Pixels by which the page may become wider for a moment, as when the settings open, without the table scrolling back.
const SPARE = 40
const SLIDE = {duration: 700, easing: "ease-out"}

// Words of a new column come from their ranks in the column before; new words fade in. All cells are measured before the
// first one moves, so that the browser lays out the table once.
function slide(moves) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return
  const sizes = moves.map(({cell}) => [cell.offsetWidth, cell.offsetHeight])
  moves.forEach(({cell, from, rank}, index) => {
    const moved = `translate(${-sizes[index][0]}px, ${(from - rank) * sizes[index][1]}px)`
    cell.animate([from < 0 ? {opacity: 0} : {transform: moved, opacity: 0.5}, {transform: "none", opacity: 1}], SLIDE)
  })
}

export function render({ model }) {
  const head = make("tr", {})
  const caption = make("caption", {class: "said"},
    "The top ten words of each selected topic, with a column for each recorded moment. Words that were not in the column before are marked as new; words that rose by two ranks or more are marked as risen.")
  const table = make("table", {}, caption, make("thead", {}, head))
  const scroller = make("div", {class: "scroller", tabindex: "0", role: "region", "aria-label": "Word lists over time"}, table)
  // Room after the last column, so that no column is cut at the left when the last one ends at the right.
  const room = make("div", {class: "room", "aria-hidden": "true"})
  scroller.append(room)
  const earlier = make_turn("earlier", "‹ ", "")
  const later = make_turn("later", "", " ›")
  const turns = make("div", {class: "turns"}, earlier, later)
  const empty = make("p", {class: "empty"})
  let follows = true
  let shown = -2
  for (const event of ["wheel", "touchstart", "pointerdown", "keydown"]) {
    scroller.addEventListener(event, () => { follows = false }, {passive: true})
  }

  // A word that is cut is shown in full at the pointer.
  scroller.addEventListener("pointerover", ({target}) => {
    const cell = target.closest("td")
    if (cell) cell.title = cell.scrollWidth > cell.clientWidth ? cell.dataset.key.slice(1) : ""
  })

  function write_head() {
    table.style.setProperty("--columns", model.columns.length)
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

  function make_body() {
    const title = make("th", {scope: "rowgroup", class: "title"}, make("div", {class: "name"},
      make("span", {class: "chip", "aria-hidden": "true"}), make("strong", {}), make("span", {class: "note"})))
    const body = make("tbody", {}, make("tr", {}, title))
    for (let rank = 0; rank < NUM_RANKS; rank++) body.append(make("tr", {}, make("th", {scope: "row", class: "rank"}, `${rank + 1}`)))
    return body
  }

  function write_block(body, block, newest, moves) {
    const before = newest > 0 ? block.cells.map(row => row[newest - 1]?.[0]) : []
    const title = body.rows[0].cells[0]
    title.colSpan = model.columns.length + 1
    const [chip, name, note] = title.firstChild.children
    chip.style.background = block.color
    body.style.setProperty("--topic", block.color)
    body.classList.toggle("pointed", block.topic_id === model.pointed)
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
        const word = block.cells[rank][i]?.[0] ?? null
        if (i === newest && newest === shown + 1 && word !== null) moves.push({cell, from: before.indexOf(word), rank})
      }
    }
  }

  // The columns, and the part of the table in which they are seen: to the right of the ranks, which stay in place.
  function measure() {
    const rank = head.firstChild.offsetWidth
    const columns = [...head.children].slice(1).map(cell => ({left: cell.offsetLeft - rank, right: cell.offsetLeft + cell.offsetWidth}))
    return {columns, start: scroller.scrollLeft, width: scroller.clientWidth}
  }

  // The first column from which on all are seen up to the one that ends here.
  function find_first(columns, right, width) {
    return columns.find(column => right - column.left <= width + 1) ?? columns[columns.length - 1]
  }

  function follow() {
    const {columns, width} = measure()
    const newest = columns[model.columns.filter(column => column.reached).length - 1]
    if (follows && width) {
      const left = newest ? find_first(columns, newest.right, width).left : 0
      room.style.width = left > 0 ? `${Math.max(0, left + width - table.offsetWidth + SPARE)}px` : "0"
      scroller.scrollLeft = left
      // A title is no wider than the part of the table that is seen, or its start would be cut.
      table.style.setProperty("--seen", `${Math.min(width, table.offsetWidth - left) - 8}px`)
    }
    count_unseen()
  }

  function count_unseen() {
    const {columns, start, width} = measure()
    const focused = turns.getRootNode().activeElement
    write_turn(earlier, columns.filter(column => column.left < start - 1).length)
    write_turn(later, columns.filter(column => column.right > start + width + 1).length)
    // The focus is not lost with the button that has it.
    for (const [button, other] of [[earlier, later], [later, earlier]]) if (button === focused && button.hidden) other.focus()
  }

  function write_turn(button, number) {
    put(button.children[0], String(number))
    button.setAttribute("aria-label", `Show ${number} ${button.className} column${number === 1 ? "" : "s"}`)
    button.hidden = number === 0
  }

  function make_turn(name, before, after) {
    const button = make("button", {type: "button", class: name, hidden: ""}, before, make("span", {}), make("span", {class: "which"}, ` ${name}`), after)
    button.addEventListener("click", () => {
      follows = false
      const {columns, start, width} = measure()
      const last = columns.filter(column => column.left < start - 1).pop()
      const next = columns.find(column => column.right > start + width + 1)
      const left = name === "earlier" ? last && find_first(columns, last.right, width).left : next?.left
      const is_still = matchMedia("(prefers-reduced-motion: reduce)").matches
      if (left !== undefined) scroller.scrollTo({left, behavior: is_still ? "auto" : "smooth"})
    })
    return button
  }

  function write() {
    write_head()
    const newest = model.columns.filter(column => column.reached).length - 1
    // Blocks stay where they are when topics change places, so that nothing moves.
    while (table.tBodies.length > model.blocks.length) table.tBodies[table.tBodies.length - 1].remove()
    while (table.tBodies.length < model.blocks.length) table.append(make_body())
    const moves = []
    model.blocks.forEach((block, index) => write_block(table.tBodies[index], block, newest, moves))
    slide(moves)
    shown = newest
    put(empty, model.empty)
    empty.hidden = model.empty === ""
    follow()
  }

  model.on(["columns", "blocks", "empty", "pointed"], once_per_change(write))
  write()
  // While the table follows the run, only the browser itself scrolls: it may return to an earlier place.
  scroller.addEventListener("scroll", () => follows ? follow() : count_unseen(), {passive: true})
  const frame = make("div", {class: "frame"}, turns, scroller, empty)
  const watcher = new ResizeObserver(follow)
  watcher.observe(frame)
  // Columns become wider when fonts arrive.
  watcher.observe(table)
  model.on("remove", () => watcher.disconnect())
  return frame
}
