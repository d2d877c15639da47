// How long a place may take to be laid out after its page was opened.
const LAY_OUT_MILLISECONDS = 4000

export function render({model}) {
  const mark = make("div", {"aria-hidden": "true", style: "height: 0; scroll-margin-top: 8px"})
  let frame = 0

  function show(start, last) {
    const {top, width} = mark.getBoundingClientRect()
    // A place that has stopped moving is laid out.
    if (performance.now() - start < LAY_OUT_MILLISECONDS && (width === 0 || top !== last)) {
      frame = requestAnimationFrame(() => show(start, top))
      return
    }
    if (top < 0 || top > window.innerHeight / 2) mark.scrollIntoView({block: "start"})
  }

  function begin() {
    cancelAnimationFrame(frame)
    if (model.number > 0) show(performance.now(), NaN)
  }

  model.on("number", begin)
  model.on("remove", () => cancelAnimationFrame(frame))
  begin()
  return mark
}
