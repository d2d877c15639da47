const FORMATS = {int: /^[-+]?\d+$/, float: /^[-+]?(\d+\.?\d*|\.\d+)$/}

const findNumber = (path) => {
  const nodes = new Set(path)
  return Bokeh.index.query_one((view) => nodes.has(view.el) && FORMATS[view.model.data?.mode])?.model.data
}

const send = (event) => {
  const input = event.currentTarget
  const number = findNumber(event.composedPath())
  if (!number) { return }
  if (input.value === "") { number.value = null }
  if (FORMATS[number.mode].test(input.value)) { number.value = Number(input.value) }
}

const follow = (event) => {
  const [input] = event.composedPath()
  if (input?.matches?.("input")) { input.addEventListener("blur", send, {once: true}) }
}

export function render({model}) {
  document.addEventListener("input", follow, true)
  model.on("remove", () => document.removeEventListener("input", follow, true))
  const nothing = document.createElement("div")
  nothing.hidden = true
  return nothing
}
