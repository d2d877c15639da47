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

// Adds the file, or all files of the folder, to `found`, each with the names of the folders that it is in.
async function list(entry, folders, found, most) {
  if (entry.name.startsWith(".") || found.length > most) return
  if (entry.isFile) {
    found.push({folders, file: await new Promise((resolve, reject) => entry.file(resolve, reject))})
    return
  }
  const reader = entry.createReader()
  const inside = [...folders, entry.name]
  while (true) {
    const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject))
    if (!entries.length) return
    for (const each of entries) await list(each, inside, found, most)
  }
}

// Files of a chosen folder say where they are in it; files that were chosen one by one do not.
function locate(file) {
  return {file, folders: file.webkitRelativePath.split("/").slice(0, -1)}
}

export function render({ model }) {
  const input = make("input", {type: "file", multiple: "", hidden: ""})
  const button = make("button", {type: "button"}, "Choose files")
  const folder_button = make("button", {type: "button"}, "Choose a folder")
  const cancel = make("button", {type: "button", hidden: ""}, "Cancel upload")
  const said = make("p", {class: "said"})
  const bar = make("progress", {max: "1", value: "0", "aria-label": "Upload"})
  const hint = make("span", {class: "hint"}, "or drop files here")
  const area = make("div", {class: "area"})
  if (model.takes_files) area.append(button, folder_button, hint, cancel, input, bar, said)
  let answer = null
  let is_busy = false
  let is_cancelled = false
  let parts = []

  const show = () => { said.textContent = model.limits }
  model.on("limits", show)
  show()
  set_busy(false)
  area.hidden = !model.takes_files

  function set_busy(busy) {
    is_busy = busy
    button.hidden = folder_button.hidden = hint.hidden = busy
    cancel.hidden = bar.hidden = !busy
    bar.value = 0
  }

  // Each message is answered before the next one, so at most one part is being sent.
  function send(message) {
    return new Promise((resolve) => {
      answer = resolve
      model.send_msg(message)
    })
  }

  async function move(found) {
    const size = found.reduce((sum, {file}) => sum + file.size, 0)
    let done = 0
    if (!await send({kind: "begin"})) return
    for (const {file, folders} of found) {
      if (!await send({kind: "open", name: file.name, size: file.size, folders})) return
      for (let start = 0; start < file.size; start += model.part_bytes) {
        const part = await read(file.slice(start, start + model.part_bytes))
        if (is_cancelled) break
        if (!await send({kind: "part", content: part})) return
        done += Math.min(model.part_bytes, file.size - start)
        bar.value = size ? done / size : 1
      }
      if (is_cancelled) break
    }
    await send({kind: is_cancelled ? "cancel" : "end"})
  }

  // find() gives the files; a dropped folder is read only then.
  async function take(find) {
    if (is_busy) return
    is_cancelled = false
    const focused = area.getRootNode().activeElement
    set_busy(true)
    if (focused === button || focused === folder_button) cancel.focus()
    try {
      const found = await find()
      if (found.length) await move(found)
    } catch (error) {
      model.send_msg({kind: "fault", text: String(error?.message ?? error)})
    }
    const is_focused = area.getRootNode().activeElement === cancel
    set_busy(false)
    if (is_focused) button.focus()
    input.value = ""
  }

  async function list_all(entries) {
    const found = []
    for (const entry of entries) await list(entry, [], found, model.max_files)
    return found
  }

  function choose(is_folder) {
    input.webkitdirectory = is_folder
    input.click()
  }

  // A browser may lack the memory for a large file; the server then says so.
  function receive(act) {
    try {
      act()
    } catch (error) {
      parts = []
      model.send_msg({kind: "unsaved", text: String(error?.message ?? error)})
    }
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
      receive(() => {
        parts.push(decode(message.content))
        model.send_msg({kind: "next"})
      })
    } else if (message.kind === "save") {
      receive(() => save(message.name))
    } else if (message.kind === "drop") {
      parts = []
    }
  })
  button.addEventListener("click", () => choose(false))
  folder_button.addEventListener("click", () => choose(true))
  cancel.addEventListener("click", () => { is_cancelled = true })
  input.addEventListener("change", () => {
    const found = [...input.files].filter((file) => !file.name.startsWith(".")).map(locate)
    if (found.length) take(async () => found)
  })
  area.addEventListener("dragover", (event) => { event.preventDefault(); area.classList.add("over") })
  area.addEventListener("dragleave", () => area.classList.remove("over"))
  area.addEventListener("drop", (event) => {
    event.preventDefault()
    area.classList.remove("over")
    // The browser forgets the entries when this handler returns.
    const items = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry())
    const entries = items.filter((entry) => entry !== null)
    if (entries.length) take(() => list_all(entries))
  })
  return area
}
