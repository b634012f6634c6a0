// Elements of a page. Everything that comes from data goes through here: text is set as text, never parsed as HTML.

export const byId = (id) => document.getElementById(id);

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function show(node, isShown = true) {
  node.hidden = !isShown;
}
