const SELECTION = ["page", "topic", "document", "from", "to"]

const withoutSelection = (query) => {
  const rest = new URLSearchParams(query)
  // The moment of a replay changes while it plays.
  for (const name of [...SELECTION, "moment"]) { rest.delete(name) }
  return rest.toString()
}

const isSelected = (before, after) => SELECTION.some((name) =>
  before.get(name) !== after.get(name) && (name !== "topic" || before.has(name)))

const RESTORE_TIMES = 15
const RESTORE_MILLISECONDS = 100

// The part of the page that scrolls: the widest one, because the settings scroll too.
function findScrolled(root) {
  const found = []
  for (const node of root.querySelectorAll("*")) {
    if (node.shadowRoot) { found.push(findScrolled(node.shadowRoot)) }
    if (node.scrollHeight > node.clientHeight && /auto|scroll/.test(getComputedStyle(node).overflowY)) { found.push(node) }
  }
  return found.reduce((widest, node) => (node?.clientWidth ?? 0) > (widest?.clientWidth ?? 0) ? node : widest, null)
}

export function render({model}) {
  const push = window.history.pushState
  // What follows from a press, such as the first topic of a page, belongs to the same entry.
  let hasPressed = true
  let scrolled = 0
  let restoring = null

  // A page may be drawn again before the address changes, so the place on it is that at the press.
  const stopRestoring = () => clearInterval(restoring)
  const notePress = () => {
    stopRestoring()
    hasPressed = true
    scrolled = findScrolled(document)?.scrollTop ?? 0
  }
  // Parts of a page grow while they are drawn.
  function restore(place) {
    let times = 0
    stopRestoring()
    restoring = setInterval(() => {
      const part = findScrolled(document)
      if (part) { part.scrollTop = place }
      if (++times === RESTORE_TIMES) { clearInterval(restoring) }
    }, RESTORE_MILLISECONDS)
  }

  const withTopics = (state) => ({...state, topicsKey: model.topics_key})
  const noteTopics = () => {
    if (model.topics_key && !window.history.state?.topicsKey) {
      window.history.replaceState(withTopics(window.history.state), "", window.location.href)
    }
  }
  // In another run the same numbers mean another topic and another moment.
  function leaveTopic() {
    const address = new URL(window.location.href)
    for (const name of ["topic", "moment"]) { address.searchParams.delete(name) }
    window.history.replaceState(withTopics(window.history.state), "", address.href)
  }

  window.history.pushState = (state, unused, url) => {
    const next = new URL(url, window.location.href)
    if (next.href === window.location.href) { return }
    const isNew = withoutSelection(next.search) === withoutSelection(window.location.search)
      && isSelected(new URLSearchParams(window.location.search), new URLSearchParams(next.search))
      && hasPressed
    if (!isNew) { window.history.replaceState(withTopics(state), unused, url); return }
    hasPressed = false
    window.history.replaceState({...window.history.state, scrolled}, "", window.location.href)
    push.call(window.history, withTopics(state), unused, url)
  }
  const goBack = (event) => {
    if (event.state?.topicsKey !== model.topics_key) { leaveTopic() }
    model.send_msg({query: window.location.search})
    if (event.state?.scrolled) { restore(event.state.scrolled) }
  }
  const presses = ["pointerdown", "keydown"]
  for (const kind of presses) { window.addEventListener(kind, notePress, {capture: true}) }
  window.addEventListener("wheel", stopRestoring, {capture: true, passive: true})
  window.addEventListener("popstate", goBack)
  model.on("topics_key", noteTopics)
  noteTopics()
  model.on("remove", () => {
    window.history.pushState = push
    stopRestoring()
    for (const kind of presses) { window.removeEventListener(kind, notePress, {capture: true}) }
    window.removeEventListener("wheel", stopRestoring, {capture: true})
    window.removeEventListener("popstate", goBack)
  })
  const nothing = document.createElement("div")
  nothing.hidden = true
  return nothing
}
