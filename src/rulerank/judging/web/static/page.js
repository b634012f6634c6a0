// What every page needs: elements, and requests in the name of its rater and its label store.

import { connect } from "./wire.js";

export { byId, element, show } from "/shared/dom.js";
export { Refusal, Silence } from "./wire.js";
// Where judgements are kept on this device; nowhere, where that is forbidden.
export function storage() {
  try {
    return window.localStorage;
  } catch {
    return {};
  }
}

export const rater = document.body.dataset.rater ?? "";
export const store = document.body.dataset.store ?? "";
export const ask = connect({ rater, store });
