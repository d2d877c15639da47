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
// The server sends a beat every second. Without one for this long the page says so, in less than three seconds.
const SILENCE_MILLISECONDS = 2500
// A busy server can be silent for seconds, and sends beats and answers requests in turn: a page whose connection is open
// is only loaded again after this long, in which the server has answered this many requests in a row without a beat.
const REOPEN_MILLISECONDS = 15000
const REOPEN_ANSWERS = 8
const LOOK_MILLISECONDS = 250
// A busy page receives nothing. At most this much time between two checks counts as silence.
const MOST_MILLISECONDS = 1000
const LOST = {icon: "M3.300 2 2 3.300 5.700 7A9 9 0 0 0 3 9.500l2 2a7 7 0 0 1 2.800-2.400L10 11.300a5 5 0 0 0-3 2.200l2 2a3 3 0 0 1 " +
  "3.800-.8l6 6L20.100 19.400zM12 5c-.7 0-1.400.1-2 .2l2.500 2.400a9 9 0 0 1 6.500 3.900l2-2A12 12 0 0 0 12 5z",
  color: "#c62828", state: "No connection"}

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

// "now at 1889": the date is large.
const writeDate = (node, text) => {
  if (node.textContent === text) { return }
  const [, words, date] = text.match(/^(.*) (\S+)$/) ?? [null, text, ""]
  node.replaceChildren(`${words} `)
  make("strong", "date", node).textContent = date
  node.style.display = text ? "" : "none"
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds))

// Whether the server answers a request for one of the files of this page.
const answers = async () => {
  const file = [...document.scripts].find((script) => script.src)
  try {
    await fetch(file.src, {method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(SILENCE_MILLISECONDS)})
    return true
  } catch {
    return false
  }
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
  for (const name of ["corpus", "documents", "speed", "phase"]) { cells[name] = make("span", name, line) }
  const middle = make("div", "middle", bar)
  cells.reading = make("div", "reading", middle)
  const stick = make("div", "pieces", middle)
  const pieces = model.get_child("stick")
  if (pieces) { stick.append(pieces) }
  const track = make("div", "track", stick)
  track.setAttribute("role", "progressbar")
  track.setAttribute("aria-valuemin", "0")
  track.setAttribute("aria-valuemax", "100")
  const fill = make("div", "fill", track)
  const buttons = model.get_child("buttons")
  if (buttons) { bar.append(buttons) } else { bar.classList.add("alone") }
  const note = make("p", "note", bar)
  // Screen readers read what is being done once; the seconds are for the eye.
  const work = make("p", "note work", bar)
  const doing = make("span", "doing", work)
  doing.setAttribute("role", "status")
  const since = make("span", "since", work)
  since.setAttribute("aria-hidden", "true")
  let begun = 0
  // A page without beats, as in a notebook, is not watched.
  let silence = null
  let last_look = 0
  let is_lost = false
  let is_closed = false
  let is_asking = false
  let num_answers = 0

  const tick = () => {
    const seconds = Math.floor((performance.now() - begun) / 1000)
    const is_long = model.work !== "" && seconds >= LONG_SECONDS
    write(doing, is_long ? model.work : "")
    write(since, is_long ? `, started ${spell(seconds)} ago. Pause and settings take effect when it is done.` : "")
    work.style.display = is_long ? "" : "none"
  }
  const begin = () => {
    begun = performance.now() - 1000 * model.work_seconds
    tick()
  }

  const update = () => {
    bar.dataset.status = is_lost ? "lost" : model.status
    chip.style.background = is_lost ? LOST.color : model.color
    path.setAttribute("d", is_lost ? LOST.icon : ICONS[model.status] ?? ICONS.ready)
    write(state, is_lost ? LOST.state : model.state)
    for (const [name, node] of Object.entries(cells)) { if (name !== "reading") { write(node, model[name]) } }
    writeDate(cells.reading, model.reading)
    const percent = Math.round(1000 * model.share) / 10
    track.setAttribute("aria-valuenow", String(percent))
    track.setAttribute("aria-label", model.share_label)
    track.setAttribute("aria-valuetext", model.share_text || model.documents || model.state)
    fill.style.width = `${percent}%`
    note.setAttribute("role", is_lost || model.status === "failed" ? "alert" : "status")
    cells.phase.title = model.phase_help
    write(note, is_lost ? "The server does not answer. This is the last known state. The page reconnects automatically." : model.note)
  }
  const lose = (lost) => {
    if (lost !== is_lost) { is_lost = lost; update() }
  }
  // A server that answers and sends no beat has lost this page: it opens again at its address, which names the run.
  const openAgain = async () => {
    if (is_asking) { return }
    is_asking = true
    num_answers = await answers() ? num_answers + 1 : 0
    const is_left = silence > REOPEN_MILLISECONDS && num_answers >= REOPEN_ANSWERS
    if (is_lost && num_answers > 0 && (is_closed || is_left)) { window.location.reload() }
    await pause(1000)
    is_asking = false
  }
  const listen = () => {
    const now = performance.now()
    if (silence !== null) { silence += Math.min(now - last_look, MOST_MILLISECONDS) }
    last_look = now
    if (silence > SILENCE_MILLISECONDS) { lose(true) }
    if (is_lost) { openAgain() }
  }
  const hear = () => {
    if (model.beat > 0) { silence = num_answers = 0; lose(false) }
  }
  model.on(["beat"], hear)
  hear()
  const listening = setInterval(listen, LOOK_MILLISECONDS)
  setTimeout(() => view.model.document?.on_event("connection_lost", () => {
    is_closed = true
    lose(true)
  }), 0)
  model.on(["status", "color", "state", "phase", "phase_help", "corpus", "reading", "documents", "speed", "share",
    "share_label", "share_text", "note"], update)
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
  if (buttons) { document.addEventListener("keydown", press) }
  model.on("remove", () => {
    clearInterval(clock)
    clearInterval(listening)
    document.removeEventListener("keydown", press)
  })
  return bar
}
