const OPENS = ["Enter", " ", "ArrowDown", "ArrowUp"]
const PRESSES = ["keydown", "click"]
const LOOK_MILLISECONDS = 100

const openSelect = (event) => {
  const [target] = event.composedPath()
  if (!target?.matches?.(".MuiSelect-select[role=combobox]") || target.getAttribute("aria-disabled") === "true") { return }
  if (!OPENS.includes(event.key) || event.ctrlKey || event.altKey || event.metaKey) { return }
  event.preventDefault()
  target.click()
}

export function render({model}) {
  let last = null
  let open = null
  let timer = null

  // No event outside a shadow root says that the focus moves inside it: key presses and clicks show where the focus is.
  const follow = (event) => {
    const path = event.composedPath()
    const overlay = path.find((node) => node.matches?.(".MuiModal-root"))
    open = overlay ?? (open?.isConnected ? open : null)
    clearInterval(timer)
    if (!overlay) {
      last = path.find((node) => node.tabIndex >= 0) ?? last
      return
    }
    timer = setInterval(() => {
      if (overlay.isConnected) { return }
      clearInterval(timer)
      if (document.activeElement === document.body) { last?.focus() }
    }, LOOK_MILLISECONDS)
  }
  // A button of a dialog that disappears when it is pressed leaves the focus on the page for a moment.
  const closeOpen = (event) => {
    if (event.key !== "Escape" || event.composedPath()[0] !== document.body || !open?.isConnected) { return }
    const inside = open.querySelector("[tabindex='-1']") ?? open
    inside.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true, composed: true}))
  }
  document.addEventListener("keydown", openSelect)
  document.addEventListener("keydown", closeOpen)
  for (const name of PRESSES) { document.addEventListener(name, follow, true) }
  model.on("remove", () => {
    clearInterval(timer)
    document.removeEventListener("keydown", openSelect)
    document.removeEventListener("keydown", closeOpen)
    for (const name of PRESSES) { document.removeEventListener(name, follow, true) }
  })
  const nothing = document.createElement("div")
  nothing.hidden = true
  return nothing
}
