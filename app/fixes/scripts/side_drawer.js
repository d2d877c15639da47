export function render({model, view}) {
  const wide = window.matchMedia("(min-width: 900px)")
  const kept = "stickbreaker-settings"
  const findPage = () => view.model.document?.roots().find((root) => root.data?.sidebar_variant !== undefined)?.data
  const isWanted = () => wide.matches && !model.is_closed && localStorage.getItem(kept) === "open"
  const fitPage = () => {
    findPage()?.setv({sidebar_variant: wide.matches ? "persistent" : "temporary", sidebar_open: isWanted()})
  }
  const makeRoom = () => {
    if (wide.matches) findPage()?.setv({sidebar_open: isWanted()})
  }
  const keep = () => {
    model.is_open = findPage().sidebar_open
    if (wide.matches && !model.is_closed) localStorage.setItem(kept, findPage().sidebar_open ? "open" : "closed")
  }
  const start = () => {
    const page = findPage()
    page?.connect(page.properties.sidebar_open.change, keep)
    fitPage()
  }
  wide.addEventListener("change", fitPage)
  model.on("is_closed", makeRoom)
  model.on("num_pressed", () => {
    const page = findPage()
    page?.setv({sidebar_open: !page.sidebar_open})
  })
  // React does not let one component change another while it draws.
  setTimeout(start, 0)
  model.on("remove", () => {
    wide.removeEventListener("change", fitPage)
    const page = findPage()
    page?.disconnect(page.properties.sidebar_open.change, keep)
  })
  const nothing = document.createElement("div")
  nothing.hidden = true
  return nothing
}
