// Modules import nothing by name here: each one is a bundle or a script without imports.
window.importShim = (address) => import(new URL(address, document.baseURI))
window.importShim.addImportMap = () => {}
