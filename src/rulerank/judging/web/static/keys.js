// Keyboard shortcuts; off while typing, in dialogs, or if disabled.

import { byId, remember, remembered } from "./page.js";

const SWITCH = "rulerank.keys";
const BOUNCE = 350; // milliseconds in which the same key counts once
const box = byId("keys-on");
let last = { key: "", time: -Infinity };

// quick: keys that may repeat.
export function listen(actions, quick = []) {
  box.checked = remembered(SWITCH) !== "off";
  box.addEventListener("change", () => remember(SWITCH, box.checked ? "on" : "off"));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (document.querySelector("dialog[open]") || isTyping(event.target)) return;
    if (!box.checked && event.key !== "?") return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = actions[key];
    if (!action) return;
    event.preventDefault();
    if (quick.includes(key)) return action(event);
    if (event.repeat) return;
    const isBounce = event.key === last.key && event.timeStamp - last.time < BOUNCE;
    last = { key: event.key, time: event.timeStamp };
    if (!isBounce) action(event);
  });
}

function isTyping(target) {
  return target instanceof Element && Boolean(target.closest("input, textarea, select, [contenteditable]"));
}
