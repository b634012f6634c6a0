// What every page needs: elements, and requests in the name of its rater and its label store.

import { connect } from "./wire.js";

export { Refusal, Silence } from "./wire.js";
export const byId = (id) => document.getElementById(id);
export const rater = document.body.dataset.rater ?? "";
export const store = document.body.dataset.store ?? "";
export const ask = connect({ rater, store });

// Everything that comes from data goes through here: text is set as text, never parsed as HTML.
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function show(node, isShown = true) {
  node.hidden = !isShown;
}
