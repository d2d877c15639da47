export function render({model, view}) {
  const wide = window.matchMedia("(min-width: 900px)")
  let wasOpen = true
  const findPage = () => view.model.document?.roots().find((root) => root.data?.sidebar_variant !== undefined)?.data
  const fitPage = () => {
    const isOpen = wide.matches && !model.is_closed
    findPage()?.setv({sidebar_variant: wide.matches ? "persistent" : "temporary", sidebar_open: isOpen})
  }
  const makeRoom = () => {
    const page = findPage()
    if (page === undefined || !wide.matches) return
    if (model.is_closed) wasOpen = page.sidebar_open
    page.setv({sidebar_open: !model.is_closed && wasOpen})
  }
  wide.addEventListener("change", fitPage)
  model.on("is_closed", makeRoom)
  // React does not let one component change another while it draws.
  setTimeout(fitPage, 0)
  model.on("remove", () => wide.removeEventListener("change", fitPage))
  const nothing = document.createElement("div")
  nothing.hidden = true
  return nothing
}
