// What every page needs: elements, and requests in the name of its rater and its label store.

import { byId, show } from "/shared/dom.js";
import { connect } from "./wire.js";

export { byId, element, show } from "/shared/dom.js";
export { Refusal, Silence } from "./wire.js";

// What only works with the page's script waits for it: a press before would be lost, or leave the page.
for (const control of document.querySelectorAll("[data-scripted]")) control.disabled = false;

// Where judgements are kept on this device; nowhere, where that is forbidden.
export function storage() {
  try {
    return window.localStorage;
  } catch {
    return {};
  }
}

// What is chosen on this device; where that is forbidden, it holds until the page is left.
export function remembered(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // nowhere to keep it
  }
}

export const rater = document.body.dataset.rater ?? "";
export const store = document.body.dataset.store ?? "";
export const ask = connect({ rater, store });

// Write a text where it belongs; without one the place is not shown.
export function put(id, text) {
  byId(id).textContent = text ?? "";
  show(byId(id), Boolean(text));
}

// Tell those who hear the page and do not see it.
export function announce(text) {
  byId("announcer").textContent = text;
}
