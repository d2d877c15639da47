function make(tag, attributes, ...children) {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value)
  node.append(...children)
  return node
}

function read(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(blob)
  })
}

function decode(text) {
  const bytes = atob(text)
  return Uint8Array.from(bytes, (sign) => sign.charCodeAt(0))
}

export function render({ model }) {
  const input = make("input", {type: "file", multiple: "", hidden: ""})
  const button = make("button", {type: "button"}, "Choose files")
  const said = make("p", {class: "said"})
  const bar = make("progress", {max: "1", value: "0", "aria-label": "Upload"})
  const hint = make("span", {class: "hint"}, "or drop them here")
  const area = make("div", {class: "area"})
  if (model.takes_files) area.append(button, hint, input, bar, said)
  let answer = null
  let is_busy = false
  let parts = []

  const show = () => { said.textContent = model.limits }
  model.on("limits", show)
  show()
  bar.hidden = true
  area.hidden = !model.takes_files

  // Each message is answered, so that no more than one part is ever on its way.
  function send(message) {
    return new Promise((resolve) => {
      answer = resolve
      model.send_msg(message)
    })
  }

  async function move(files) {
    const size = files.reduce((sum, file) => sum + file.size, 0)
    let done = 0
    if (!await send({kind: "begin"})) return
    for (const file of files) {
      if (!await send({kind: "open", name: file.name, size: file.size})) return
      for (let start = 0; start < file.size; start += model.part_bytes) {
        const part = await read(file.slice(start, start + model.part_bytes))
        if (!await send({kind: "part", content: part})) return
        done += Math.min(model.part_bytes, file.size - start)
        bar.value = size ? done / size : 1
      }
    }
    await send({kind: "end"})
  }

  async function take(list) {
    const files = [...list]
    if (is_busy || !files.length) return
    is_busy = button.disabled = true
    bar.value = 0
    bar.hidden = false
    try {
      await move(files)
    } catch (error) {
      model.send_msg({kind: "fault", text: String(error?.message ?? error)})
    }
    is_busy = button.disabled = false
    bar.hidden = true
    input.value = ""
  }

  function save(name) {
    const link = make("a", {download: name})
    link.href = URL.createObjectURL(new Blob(parts))
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 10000)
    parts = []
  }

  model.on("msg:custom", (message) => {
    if (message.kind === "answer") {
      const resolve = answer
      answer = null
      if (resolve) resolve(message.is_taken)
    } else if (message.kind === "part") {
      parts.push(decode(message.content))
      model.send_msg({kind: "next"})
    } else if (message.kind === "save") {
      save(message.name)
    }
  })
  button.addEventListener("click", () => input.click())
  input.addEventListener("change", () => take(input.files))
  area.addEventListener("dragover", (event) => { event.preventDefault(); area.classList.add("over") })
  area.addEventListener("dragleave", () => area.classList.remove("over"))
  area.addEventListener("drop", (event) => {
    event.preventDefault()
    area.classList.remove("over")
    take(event.dataTransfer.files)
  })
  return area
}
