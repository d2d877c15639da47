// Before the script of each component that builds its own HTML: `scripts.read_script` puts it there.

function make(tag, attributes, ...children) {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value)
  node.append(...children)
  return node
}

// Tells the server at which part the pointer or the focus stays; the result takes its key or null.
function make_teller(model) {
  let told = null
  let waiting = null
  model.on("remove", () => clearTimeout(waiting))
  return key => {
    clearTimeout(waiting)
    waiting = setTimeout(() => {
      if (key === told) return
      told = key
      model.send_msg({pointed: key})
    }, 100)
  }
}

// Text of a corpus is written as text only; a node that already has it is not touched.
function put(node, text) { if (node.textContent !== text) node.textContent = text }

// Properties that change together are one change.
function once_per_change(act) {
  let is_pending = false
  return () => {
    if (is_pending) return
    is_pending = true
    queueMicrotask(() => { is_pending = false; act() })
  }
}
