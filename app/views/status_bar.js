const ICONS = {
  ready: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zm0 2a6 6 0 1 1 0 12 6 6 0 0 1 0-12z",
  compiling: "M12 4V1L7 6l5 5V8a5 5 0 1 1-5 5H5a7 7 0 1 0 7-9z",
  opening: "M4 4h6l2 2h8v2H4v10l2-8h16l-2.500 10H2V6a2 2 0 0 1 2-2z",
  waiting: "M6 2v6l4 4-4 4v6h12v-6l-4-4 4-4V2H6zm10 14.5V20H8v-3.500l4-4 4 4z",
  running: "M8 5v14l11-7z",
  paused: "M6 5h4v14H6zM14 5h4v14h-4z",
  finished: "M9 16.200 4.800 12l-1.400 1.400L9 19 21 7l-1.400-1.400z",
  failed: "M1 21h22L12 2 1 21zm12-3h-2v-2h2v2zm0-4h-2v-4h2v4z",
}

const LONG_SECONDS = 3

const spell = (seconds) => seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`

const make = (tag, name, parent) => {
  const node = document.createElement(tag)
  node.className = name
  parent.append(node)
  return node
}

const write = (node, text) => {
  if (node.textContent !== text) { node.textContent = text }
  node.style.display = text ? "" : "none"
}

const takesSpace = (node) => {
  if (!node || !node.matches) { return false }
  if (node.matches("input[type=range]")) { return false }
  return node.isContentEditable || node.matches(
    "input, textarea, select, button, a[href], summary, [role=button], [role=combobox], [role=option], " +
    "[role=menuitem], [role=listbox], [role=tab], [role=switch], [role=checkbox], [role=radio]")
}

export function render({model, view}) {
  const bar = document.createElement("section")
  bar.className = "bar"
  bar.setAttribute("aria-label", "State of the run")
  const line = make("div", "line", bar)
  const chip = make("span", "chip", line)
  chip.setAttribute("role", "status")
  const icon = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  icon.setAttribute("viewBox", "0 0 24 24")
  icon.setAttribute("aria-hidden", "true")
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path")
  icon.append(path)
  chip.append(icon)
  const state = make("span", "state", chip)
  const cells = {}
  for (const name of ["phase", "corpus", "reading", "documents", "speed"]) { cells[name] = make("span", name, line) }
  const track = make("div", "track", bar)
  track.setAttribute("role", "progressbar")
  track.setAttribute("aria-label", "Documents seen")
  track.setAttribute("aria-valuemin", "0")
  track.setAttribute("aria-valuemax", "100")
  const fill = make("div", "fill", track)
  const buttons = model.get_child("buttons")
  if (buttons) { bar.append(buttons) }
  const note = make("p", "note", bar)
  // What is being done is said once; the seconds are for the eye.
  const work = make("p", "note work", bar)
  const doing = make("span", "doing", work)
  doing.setAttribute("role", "status")
  const since = make("span", "since", work)
  since.setAttribute("aria-hidden", "true")
  let begun = 0

  const tick = () => {
    const seconds = Math.floor((performance.now() - begun) / 1000)
    const is_long = model.work !== "" && seconds >= LONG_SECONDS
    write(doing, is_long ? model.work : "")
    write(since, is_long ? `, begun ${spell(seconds)} ago. Pause and settings act once it is done.` : "")
    work.style.display = is_long ? "" : "none"
  }
  const begin = () => {
    begun = performance.now() - 1000 * model.work_seconds
    tick()
  }

  const update = () => {
    bar.dataset.status = model.status
    chip.style.background = model.color
    path.setAttribute("d", ICONS[model.status] ?? ICONS.ready)
    write(state, model.state)
    for (const [name, node] of Object.entries(cells)) { write(node, model[name]) }
    const percent = Math.round(1000 * model.share) / 10
    track.setAttribute("aria-valuenow", String(percent))
    track.setAttribute("aria-valuetext", model.documents || model.state)
    fill.style.width = `${percent}%`
    note.setAttribute("role", model.status === "failed" ? "alert" : "status")
    cells.phase.title = model.phase_help
    write(note, model.note)
  }
  model.on(["status", "color", "state", "phase", "phase_help", "corpus", "reading", "documents", "speed", "share",
    "note"], update)
  model.on(["work", "work_seconds"], begin)
  const unfold = () => { if (model.is_unfolded) { document.dispatchEvent(new Event("stickbreaker-unfolded")) } }
  model.on(["is_unfolded"], unfold)
  unfold()
  update()
  begin()
  const clock = setInterval(tick, 1000)

  const press = (event) => {
    if (event.key !== " " || event.repeat || event.ctrlKey || event.altKey || event.metaKey) { return }
    if (takesSpace(event.composedPath()[0])) { return }
    event.preventDefault()
    model.send_msg("toggle")
  }
  document.addEventListener("keydown", press)
  const wide = window.matchMedia("(min-width: 900px)")
  const fitPage = () => {
    const page = view.model.document?.roots().find((root) => root.data?.sidebar_variant !== undefined)
    page?.data.setv({sidebar_variant: wide.matches ? "persistent" : "temporary", sidebar_open: wide.matches})
  }
  wide.addEventListener("change", fitPage)
  setTimeout(fitPage, 0)
  model.on("remove", () => {
    clearInterval(clock)
    document.removeEventListener("keydown", press)
    wide.removeEventListener("change", fitPage)
  })
  return bar
}
