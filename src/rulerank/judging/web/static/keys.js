// Single keys for those who like them; never while typing, with a dialog open, or when switched off.

import { byId } from "./page.js";

const SWITCH = "rulerank.keys";
const box = byId("keys-on");

export function listen(actions) {
  box.checked = stored() !== "off";
  box.addEventListener("change", () => store(box.checked ? "on" : "off"));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || event.isComposing) return;
    if (document.querySelector("dialog[open]") || isTyping(event.target)) return;
    if (!box.checked && event.key !== "?") return;
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function isTyping(target) {
  return target instanceof Element && Boolean(target.closest("input, textarea, select, [contenteditable]"));
}

function stored() {
  try {
    return localStorage.getItem(SWITCH);
  } catch {
    return null;
  }
}

function store(value) {
  try {
    localStorage.setItem(SWITCH, value);
  } catch {
    // it holds until the page is left
  }
}
