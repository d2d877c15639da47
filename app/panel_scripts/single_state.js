{
  const component = Bokeh.Models.get("panel.models.esm.ReactComponent").prototype
  const changes = [
    ["targetModel.setv({ [resolvedProp]: value })", ""],
    ["return [value, setValue]", `return [value, React.useCallback((next) => {
      if (target.model.events.includes(resolvedProp)) { setValue(next); return }
      const before = targetModel.attributes[resolvedProp]
      targetModel.setv({[resolvedProp]: typeof next === "function" ? next(before) : next})
    }, [])]`],
    ["react_proxy.on(prop, cb, true)", `react_proxy.on(prop, cb, true)
      if (!target.model.events.includes(resolvedProp)) { cb() }`],
  ]
  const original = component._render_code
  component._render_code = function () {
    return changes.reduce((code, [before, after]) => code.replace(before, () => after), original.call(this))
  }
}
