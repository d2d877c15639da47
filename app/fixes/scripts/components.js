// Modules import nothing by name here: each one is a bundle or a script without imports.
{
  let React = null
  window.importShim = async (address) => {
    const module = await import(new URL(address, document.baseURI))
    React = module.default?.React ?? React
    return module
  }
  window.importShim.addImportMap = () => {}

  const find = (model, prop) => {
    const path = prop.split(".")
    const name = path.pop()
    for (const each of path) { model = model?.properties?.[each] && model[each] }
    return model?.attributes && name in model.attributes ? [model, name] : []
  }
  // A component reads each value from its model, and writes it there only when the user changes it.
  const makeHook = (proxy, view, prop) => {
    const [model, name] = find(view.model.data, prop)
    if (!model || view.model.events.includes(name)) { return () => proxy.useState(prop) }
    const read = () => model.attributes[name]
    const write = (next) => model.setv({[name]: typeof next === "function" ? next(read()) : next})
    const follow = (callback) => {
      proxy.on(prop, callback, true)
      return () => proxy.off(prop, callback)
    }
    return () => [React.useSyncExternalStore(follow, read), write]
  }
  const proxies = new WeakMap()
  const withModel = (proxy, view) => {
    if (!proxies.has(proxy)) {
      const hooks = new Map()
      const useState = (prop) => {
        if (!hooks.has(prop)) { hooks.set(prop, makeHook(proxy, view, prop)) }
        return hooks.get(prop)()
      }
      const get = (target, name) => name === "useState" ? useState : Reflect.get(target, name)
      proxies.set(proxy, new Proxy(proxy, {get, set: (target, name, value) => Reflect.set(target, name, value)}))
    }
    return proxies.get(proxy)
  }
  const drawn = new WeakMap()
  const withModels = (render) => {
    if (!drawn.has(render)) {
      drawn.set(render, (props, ref) => render({...props, model: withModel(props.model, props.view)}, ref))
    }
    return drawn.get(render)
  }
  const component = Bokeh.Models.get("panel.models.esm.ReactComponent").prototype.default_view.prototype
  const inherited = Object.getPrototypeOf(component)
  Object.defineProperty(component, "render_fn", {
    get() {
      const render = Reflect.get(inherited, "render_fn", this)
      return React && typeof render === "function" ? withModels(render) : render
    },
  })
}
