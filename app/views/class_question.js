export function render({ model }) {
  const question = make("h2", {})
  const shown = make("p", {class: "shown"})
  const options = make("ol", {})
  const said = make("p", {class: "said", role: "status"})
  let drawn = null

  function make_option(text, place) {
    const letter = make("span", {class: "letter", "aria-hidden": "true"}, String.fromCharCode(65 + place))
    const label = make("span", {class: "label"}, text)
    const mark = make("span", {class: "mark"})
    const count = make("span", {class: "count"})
    const bar = make("span", {class: "bar", "aria-hidden": "true"}, make("span", {}))
    const node = make(model.is_asked ? "button" : "div", model.is_asked ? {type: "button"} : {}, letter, label, mark, count, bar)
    node.classList.add("option")
    if (model.is_asked) node.addEventListener("click", () => model.send_msg({task: model.number, option: place}))
    return make("li", {}, node)
  }

  function write_option(node, place) {
    const is_correct = place === model.correct, is_chosen = place === model.chosen
    node.classList.toggle("correct", is_correct)
    node.classList.toggle("chosen", is_chosen)
    put(node.querySelector(".mark"), [is_correct ? "✓ right answer" : "", is_chosen ? "your answer" : ""].filter(Boolean).join(", "))
    const has_counts = model.counts.length > 0
    const total = model.counts.reduce((sum, count) => sum + count, 0)
    put(node.querySelector(".count"), has_counts ? String(model.counts[place]) : "")
    const bar = node.querySelector(".bar")
    bar.hidden = !has_counts
    bar.firstChild.style.width = has_counts && total ? `${100 * model.counts[place] / total}%` : "0"
    if (model.is_asked) {
      node.setAttribute("aria-pressed", String(is_chosen))
      node.disabled = !model.is_open
    }
  }

  function write() {
    put(question, model.question)
    put(shown, model.shown)
    shown.hidden = model.shown === ""
    question.hidden = model.question === ""
    const texts = JSON.stringify([model.is_asked, model.number, model.options])
    if (texts !== drawn) {
      drawn = texts
      options.replaceChildren(...model.options.map(make_option))
    }
    options.hidden = model.options.length === 0
    Array.from(options.children).forEach((item, place) => write_option(item.firstChild, place))
    put(said, model.said)
  }

  model.on(["question", "shown", "options", "counts", "chosen", "correct", "is_open", "is_asked", "number", "said"], write)
  write()
  const root = make("section", {"aria-label": "Task for the class"}, question, shown, said, options)
  return root
}
