export function render({model, view}) {
  const wide = window.matchMedia("(min-width: 900px)")
  const fitPage = () => {
    const page = view.model.document?.roots().find((root) => root.data?.sidebar_variant !== undefined)
    page?.data.setv({sidebar_variant: wide.matches ? "persistent" : "temporary", sidebar_open: wide.matches})
  }
  wide.addEventListener("change", fitPage)
  // React does not let one component change another while it draws.
  setTimeout(fitPage, 0)
  model.on("remove", () => wide.removeEventListener("change", fitPage))
  const nothing = document.createElement("div")
  nothing.hidden = true
  return nothing
}
