export function render({model}) {
  const done = make("span", {})
  const bar = make("div", {class: "track", role: "progressbar", "aria-label": model.label, "aria-valuemin": "0", "aria-valuemax": "100"}, done)
  const write = () => {
    bar.setAttribute("aria-valuenow", model.value)
    done.style.width = `${model.value}%`
  }
  model.on("value", write)
  write()
  return bar
}
