export function render({model}) {
  // Those who use a keyboard reach it with Tab, others see its place.
  const mark = make("button", {type: "button", "aria-label": model.label, style: "display: block; width: 1px; height: 1px; padding: 0; border: 0; opacity: 0"})
  const show = () => {
    watcher.disconnect()
    model.is_seen = true
  }
  const watcher = new IntersectionObserver((entries) => { if (entries.some((entry) => entry.isIntersecting)) show() })
  watcher.observe(mark)
  for (const event of ["focus", "click"]) mark.addEventListener(event, show)
  model.on("remove", () => watcher.disconnect())
  return mark
}
