// Shared by all pages: elements, and requests of its rater to its label store.

import { byId, show } from "/shared/dom.js";
import { connect } from "./wire.js";

export { byId, element, show } from "/shared/dom.js";
export { Refusal, Silence } from "./wire.js";

// Controls that need the script are disabled until it is loaded.
for (const control of document.querySelectorAll("[data-scripted]")) control.disabled = false;

// The browser's storage; an empty object if it is forbidden.
export function storage() {
  try {
    return window.localStorage;
  } catch {
    return {};
  }
}

// Settings on this device, if storage is allowed.
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
    // no storage
  }
}

export const rater = document.body.dataset.rater ?? "";
export const store = document.body.dataset.store ?? "";
export const ask = connect({ rater, store });

// Set the text of an element; hides it without a text.
export function put(id, text) {
  byId(id).textContent = text ?? "";
  show(byId(id), Boolean(text));
}

// For screen readers.
export function announce(text) {
  byId("announcer").textContent = text;
}
