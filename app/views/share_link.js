export function render({ model }) {
  const field = make("input", {type: "text", readonly: "", "aria-label": "Link to watch this run"})
  const copy = make("button", {type: "button"}, "Copy")
  const line = make("div", {class: "line"}, field, copy)
  const hint = make("p", {})
  const code = make("img", {class: "code"})
  const watching = make("p", {class: "watching", role: "status"})

  // The clipboard is open to pages of this machine or over https only; elsewhere the old way still works.
  async function take() {
    field.select()
    try {
      if (navigator.clipboard) await navigator.clipboard.writeText(field.value)
      else if (!document.execCommand("copy")) return
      put(copy, "Copied")
      setTimeout(() => put(copy, "Copy"), 2000)
    } catch { field.focus() }
  }

  field.addEventListener("focus", () => field.select())
  field.addEventListener("keydown", event => event.stopPropagation())
  copy.addEventListener("click", take)

  function write() {
    if (field.value !== model.link) field.value = model.link
    put(hint, model.hint)
    put(watching, model.watching)
    if (code.getAttribute("src") !== model.picture) code.setAttribute("src", model.picture)
    code.alt = model.alt
    code.hidden = !model.picture
    line.hidden = hint.hidden = !model.link
  }

  model.on(["link", "hint", "picture", "watching"], write)
  write()
  return make("div", {class: "share"}, code, make("div", {class: "texts"}, line, hint, watching))
}
