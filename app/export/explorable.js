const state = JSON.parse(document.getElementById("state").textContent)
const LENGTHS = [10, 20, 40]

// What Panel gives the script of a component: its values, news of their changes, and a way to send messages.
function put_view(view, values, hear = () => {}) {
  const watchers = []
  const model = {...values, send_msg: hear, on: (names, act) => watchers.push([[names].flat(), act])}
  const host = make("div", {})
  const root = host.attachShadow({mode: "open"})
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(view.style)
  root.adoptedStyleSheets = [sheet]
  root.append(view.render({model}))
  const update = (changes) => {
    Object.assign(model, changes)
    for (const [names, act] of watchers) if (names.some((name) => name in changes)) act()
  }
  return {host, model, update}
}

const soft = (text) => make("p", {class: "soft"}, text)
const best = [...state.runs].sort((one, other) => score(other) - score(one))
const inputs = state.axes.map(({values}, place) =>
  make("input", {type: "range", id: `setting-${place}`, min: 0, max: values.length - 1, step: 1}))
const outputs = inputs.map(({id}) => make("output", {for: id}))
const now = make("p", {class: "now", role: "status"}, make("strong", {}), make("span", {}))
const result = make("p", {role: "status"})
const curves = make("div", {class: "curves"})
let run = best[0]
let place = run.columns.length - 1
let selected = null
let charts = []
let timer = null

const stick = put_view(stick_view, {ids: [], shares: [], titles: [], colors: [], inks: [], topic: null, pointed: null}, ({key, pointed}) => {
  if (key === undefined) {
    stick.update({pointed})
    table.update({pointed})
  } else {
    selected = selected === key ? null : key
    write()
  }
})
const table = put_view(word_table_view, {columns: [], blocks: [], empty: "", pointed: null})
const player = put_view(replay_player_view, {num_moments: 0, place: 0, columns: [], is_playing: false, text: "", length: LENGTHS[0], lengths: LENGTHS}, act)

function act({what, value}) {
  const last = run.columns.length - 1
  if (what === "length") { player.update({length: value}); return }
  if (what === "stop") return
  const plays = what === "toggle" && timer === null
  pause()
  if (plays) {
    if (place >= last) go(0)
    player.update({is_playing: true})
    advance()
  } else if (what !== "toggle") go(what === "step" ? place + value : value)
}

function pause() {
  clearTimeout(timer)
  timer = null
  player.update({is_playing: false})
}

function advance() {
  const last = run.columns.length - 1
  timer = setTimeout(() => {
    go(place + 1)
    if (place < last) advance()
    else pause()
  }, 1000 * player.model.length / Math.max(1, last))
}

function go(to) {
  place = Math.max(0, Math.min(to, run.columns.length - 1))
  write()
}

function score({heldout}) {
  return heldout.at(-1)?.[1] ?? -Infinity
}

function write_score(each) {
  return score(each).toFixed(3).replace("-", "−")
}

function name_settings(each) {
  return state.axes.map(({label, values}, axis) => `${label.split(" ").at(-1)} ${values[each.place[axis]]}`).join(", ")
}

// The run of the settings that the sliders have; where there is none, nothing is shown.
function choose() {
  pause()
  const chosen = inputs.map((input) => Number(input.value))
  inputs.forEach((input, axis) => {
    const value = state.axes[axis].values[chosen[axis]]
    input.setAttribute("aria-valuetext", value)
    outputs[axis].textContent = value
  })
  const found = state.runs.find((each) => each.place.join() === chosen.join())
  content.hidden = found === undefined
  if (found === undefined) { result.textContent = "No run has these settings."; return }
  run = found
  selected = null
  const others = state.runs.filter((each) => each !== run)
  charts = Object.entries(state.curves).filter(([name]) => run[name].length).map(([name, about]) =>
    chart({...about, points: run[name], earlier: others.map((each) => each[name])}, run.total))
  curves.replaceChildren(...charts.map(({figure}) => figure))
  result.textContent = describe_result()
  go(place)
}

function describe_result() {
  if (!run.heldout.length) return "This run has no score."
  const rank = 1 + state.runs.filter((each) => score(each) > score(run)).length
  const about = `This run ends with a score of ${write_score(run)} (higher is better)`
  return rank === 1 ? `${about}, the best of ${state.runs.length} runs.`
    : `${about}, number ${rank} of ${state.runs.length} runs. The best has ${name_settings(best[0])}: ${write_score(best[0])}.`
}

function read_cell(code) {
  const word = Math.floor(code / state.signs.length)
  return [state.words[word], state.signs[code % state.signs.length]]
}

function make_block(topic_id, shares) {
  const role = state.roles[run.shown.indexOf(topic_id)]
  const share = shares.has(topic_id) ? `${percent(shares.get(topic_id))} of the model's weight` : "not in use"
  return {
    topic_id, title: run.titles[topic_id], color: state.colors[topic_id][0],
    note: [role, share].filter(Boolean).join(", "),
    cells: run.lists[topic_id].map((row) => row.map((code, column) => code === null || column > place ? null : read_cell(code))),
  }
}

function write() {
  const [seen, date, topics] = run.columns[place]
  const shares = new Map(run.pieces[place])
  const ids = [...shares.keys()]
  if (!(selected in run.titles)) selected = null
  const shown = selected === null ? run.shown : [selected, ...run.shown.filter((id) => id !== selected)]
  now.children[0].textContent = date || number(seen)
  now.children[1].textContent = `${topics} topics in use after ${number(seen)} of ${number(run.total)} documents`
  stick.update({
    ids, shares: [...shares.values()], titles: ids.map((id) => run.titles[id]), topic: selected,
    colors: ids.map((id) => state.colors[id][0]), inks: ids.map((id) => state.colors[id][1]),
  })
  table.update({
    columns: run.columns.map(([documents, date], column) => column > place
      ? {documents: number(documents), date: "later", reached: false} : {documents: number(documents), date, reached: true}),
    blocks: shown.map((id) => make_block(id, shares)),
  })
  player.update({num_moments: run.columns.length, place, text: [date, number(seen)].filter(Boolean).join(" · ")})
  charts.forEach(({move}) => move(seen))
}

document.getElementById("about").textContent = state.about
const settings = make("div", {class: "settings"}, ...state.axes.map(({label, help}, axis) => make("div", {},
  make("label", {for: inputs[axis].id}, `${label} `, outputs[axis]), inputs[axis], soft(help))))
const content = make("div", {}, player.host, now, stick.host, soft(state.stick), make("h2", {}, "Word lists over time"), table.host,
  soft(state.marks), make("h2", {}, "Curves"), soft(state.scores), curves)
document.querySelector("main").append(make("p", {}, state.toDo), settings, result, content)
inputs.forEach((input, axis) => {
  input.value = run.place[axis]
  input.addEventListener("input", choose)
})
choose()
