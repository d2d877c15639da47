const SELECTION = ["page", "topic", "document", "from", "to"]
const SAME_ACTION_MILLISECONDS = 400

const withoutSelection = (query) => {
  const rest = new URLSearchParams(query)
  // The moment of a replay changes while it plays.
  for (const name of [...SELECTION, "moment"]) { rest.delete(name) }
  return rest.toString()
}

const isSelected = (before, after) => SELECTION.some((name) =>
  before.get(name) !== after.get(name) && (name !== "topic" || before.has(name)))

export function render({model}) {
  const push = window.history.pushState
  let pushedAt = -Infinity

  window.history.pushState = (state, unused, url) => {
    const next = new URL(url, window.location.href)
    if (next.href === window.location.href) { return }
    const isNew = withoutSelection(next.search) === withoutSelection(window.location.search)
      && isSelected(new URLSearchParams(window.location.search), new URLSearchParams(next.search))
      && performance.now() - pushedAt > SAME_ACTION_MILLISECONDS
    if (!isNew) { window.history.replaceState(state, unused, url); return }
    pushedAt = performance.now()
    push.call(window.history, state, unused, url)
  }
  const goBack = () => model.send_msg({query: window.location.search})
  window.addEventListener("popstate", goBack)
  model.on("remove", () => {
    window.history.pushState = push
    window.removeEventListener("popstate", goBack)
  })
  const nothing = document.createElement("div")
  nothing.hidden = true
  return nothing
}
