const state = JSON.parse(document.getElementById("state").textContent)
const main = document.querySelector("main")
document.getElementById("about").textContent = state.about

function dot(id) {
  const node = make("span", {class: "dot", "aria-hidden": "true"})
  node.style.background = state.topics[id][1]
  return node
}

function table(moment) {
  const rows = moment.topics.map(([id, share, words]) => {
    const cell = make("td", {})
    words.forEach(([word, mark], place) => {
      if (place) cell.append(", ")
      cell.append(mark === "+" ? make("span", {class: "new", title: "new since the previous column"}, word) : word)
    })
    return make("tr", {}, make("td", {}, dot(id), state.topics[id][0]), make("td", {class: "number"}, percent(share)), cell)
  })
  const head = make("tr", {}, ...["Topic", moment.isRead ? "Share" : "Weight", "Top ten words"].map((text) => make("th", {scope: "col"}, text)))
  return make("table", {}, make("caption", {}, "Highlighted and underlined: new in the list since the previous column. " + (moment.isRead
    ? "Share: of all tokens, as read with the model." : "Weight: in the model at this moment; recent text counts more.")),
    make("thead", {}, head), make("tbody", {}, ...rows))
}

function describe(moment) {
  const date = moment.date ? `, up to ${moment.date}` : ""
  return `After ${number(moment.seen)} documents${date}: ${moment.number} topics`
}

function periods({names, topics, values}) {
  const head = make("tr", {}, make("th", {scope: "col"}, "Period"), ...topics.map((name) => make("th", {scope: "col"}, name)))
  const rows = names.map((name, place) => make("tr", {}, make("th", {scope: "row"}, name),
    ...values[place].map((share) => make("td", {class: "number"}, share === null ? "–" : percent(share)))))
  return make("div", {class: "scroller", tabindex: "0", role: "region", "aria-label": "Topics by period"},
    make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)))
}

function detail({title, id, share, words, documents}) {
  const body = [make("p", {}, share), make("p", {}, words.map(([word, share]) => `${word} ${share}`).join(", "))]
  if (documents.length) {
    body.push(make("p", {class: "soft"}, state.typicalRule))
    body.push(make("ul", {}, ...documents.map(([name, about, share]) => make("li", {}, [name, about, share].filter(Boolean).join(" · ")))))
  }
  return make("details", {}, make("summary", {}, dot(id), title), ...body)
}

const last = state.moments.length - 1
if (last >= 0) {
  const input = make("input", {type: "range", id: "moment", min: 0, max: last, value: last, step: 1})
  const said = make("p", {role: "status"})
  const shown = make("div", {class: "scroller moment", tabindex: "0", role: "region", "aria-label": "Topics at this moment"})
  const play = make("button", {type: "button"}, "Play")
  const charts = state.curves.filter((curve) => curve.points.length).map((curve) => chart(curve, state.total))
  const REPLAY_SECONDS = 30
  let timer = null
  // The same pace as the page's own player: each document takes the same time.
  const pause = () => { clearTimeout(timer); timer = null; play.textContent = "Play" }
  const advance = () => {
    const place = Number(input.value)
    if (place >= last) { pause(); return }
    const documents = state.moments[place + 1].seen - state.moments[place].seen
    timer = setTimeout(() => { input.value = place + 1; show(); advance() }, 1000 * REPLAY_SECONDS * documents / state.moments[last].seen)
  }
  play.addEventListener("click", () => {
    if (timer !== null) { pause(); return }
    if (Number(input.value) >= last) { input.value = 0; show() }
    play.textContent = "Pause"
    advance()
  })
  const show = () => {
    const place = Number(input.value), moment = state.moments[place]
    input.setAttribute("aria-valuetext", describe(moment))
    said.textContent = describe(moment)
    shown.replaceChildren(table(moment))
    charts.forEach(({move}) => move(moment.seen))
  }
  main.append(make("div", {class: "slider"}, make("label", {for: "moment"}, "Column"), input, play, said))
  main.append(make("h2", {}, "Topics"), shown)
  main.append(make("h2", {}, "Curves"), make("p", {class: "soft"}, `The number of topics: ${state.rule}`))
  main.append(make("div", {class: "curves"}, ...charts.map(({figure}) => figure)))
  if (state.marks.length) {
    main.append(make("ul", {}, ...state.marks.map(([seen, text]) => make("li", {}, `Changed after ${number(seen)} documents: ${text}`))))
  }
  input.addEventListener("input", () => { pause(); show() })
  show()
} else {
  main.append(make("p", {}, "The run has not learned anything yet."))
}
if (state.periods) main.append(make("h2", {}, "Topics over time"), make("p", {class: "soft"}, `Share of tokens, as read with the model. ${state.rowsRule}`), periods(state.periods))
if (state.details.length) main.append(make("h2", {}, "Topics in full"), ...state.details.map(detail))
