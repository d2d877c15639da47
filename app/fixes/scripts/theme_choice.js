{
  const page = document.documentElement
  const system = matchMedia("(prefers-color-scheme: dark)")
  const ask = () => localStorage.getItem("stickbreaker-theme") ?? (system.matches ? "dark" : "light")
  let theme = ask()
  if (theme === "dark") { page.dataset.theme = theme }
  system.addEventListener("change", () => { if (ask() !== theme) { page.dataset.theme = theme = ask() } })
  document.addEventListener("click", (event) => {
    if (!event.composedPath().some((node) => node.ariaLabel === "Toggle theme")) { return }
    delete page.dataset.theme
    theme = theme === "dark" ? "light" : "dark"
    localStorage.setItem("stickbreaker-theme", theme)
  }, true)
}
