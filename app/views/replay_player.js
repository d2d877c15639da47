const ICONS = {
  back: "M6 6h2v12H6zm12 0v12l-8.500-6z",
  play: "M8 5v14l11-7z",
  pause: "M6 5h4v14H6zM14 5h4v14h-4z",
  forward: "M16 6h2v12h-2zM6 6l8.500 6L6 18z",
}

function make_button(name, label, press) {
  const button = make("button", {type: "button", title: label, "aria-label": label})
  button.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${ICONS[name]}"/></svg>`
  button.addEventListener("click", press)
  return button
}

export function render({ model }) {
  const send = (what, value) => model.send_msg({what, value})
  const back = make_button("back", "Replay: one step back", () => send("step", -1))
  const play = make_button("play", "Play the replay", () => send("toggle", 0))
  const forward = make_button("forward", "Replay: one step forward", () => send("step", 1))
  const ticks = make("datalist", {id: "columns"})
  const slider = make("input", {type: "range", min: 0, step: 1, list: "columns", "aria-label": "Moment of the replay"})
  const said = make("span", {class: "moment"})
  const pace = make("select", {"aria-label": "Length of the replay", title: "Length of the replay"})
  for (const seconds of model.lengths) pace.append(make("option", {value: seconds}, `${seconds} s`))
  // A late answer of the server does not move a slider that the user has just moved.
  let moved = -Infinity
  slider.addEventListener("input", () => { moved = performance.now(); send("place", Number(slider.value)) })
  slider.addEventListener("change", () => send("stop", 0))
  // Elsewhere on the page the space bar runs or pauses the run itself.
  slider.addEventListener("keydown", (event) => {
    if (event.key !== " ") return
    event.preventDefault()
    event.stopPropagation()
    send("toggle", 0)
  })
  pace.addEventListener("change", () => send("length", Number(pace.value)))

  function write() {
    const last = Math.max(0, model.num_moments - 1)
    slider.max = last
    if (model.is_playing || performance.now() - moved > 1000) slider.value = model.place
    slider.setAttribute("aria-valuetext", model.text)
    if (said.textContent !== model.text) said.textContent = model.text
    const label = model.is_playing ? "Pause the replay" : "Play the replay"
    if (play.title !== label) {
      play.title = label
      play.setAttribute("aria-label", label)
      play.querySelector("path").setAttribute("d", ICONS[model.is_playing ? "pause" : "play"])
    }
    const is_off = model.num_moments < 2
    for (const node of [back, play, forward, slider, pace]) node.disabled = is_off
    pace.value = model.length
  }

  function write_ticks() {
    ticks.replaceChildren(...model.columns.map(place => make("option", {value: place})))
  }

  model.on(["num_moments", "place", "is_playing", "text", "length"], write)
  model.on(["columns"], write_ticks)
  write_ticks()
  write()
  return make("section", {class: "player", "aria-label": "Replay"}, back, play, forward, slider, ticks, said, pace)
}
