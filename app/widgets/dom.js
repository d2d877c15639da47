// Before the script of each component that builds its own HTML: `scripts.read_script` puts it there.

function make(tag, attributes, ...children) {
  const node = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value)
  node.append(...children)
  return node
}

// Text of a corpus is written as text only; a node that already has it is not touched.
function put(node, text) { if (node.textContent !== text) node.textContent = text }
