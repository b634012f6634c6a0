// A judgement leaves this device only when the server has acknowledged it; until then it is kept here.

import { rater } from "./page.js";

const PREFIX = `rulerank.outbox.${JSON.stringify(rater)}.`; // quoted: "ann" must not send what "ann.b" has left
const keyOf = ({ body }) => PREFIX + JSON.stringify([body.query, body.doc]); // one each: two tabs share the storage
let kept = left();

function left() {
  try {
    const key = Object.keys(localStorage).find((name) => name.startsWith(PREFIX));
    return key ? JSON.parse(localStorage.getItem(key)) : null;
  } catch {
    return null; // no storage, or not ours
  }
}

export function waiting() {
  return kept;
}

export function keep(judgement) {
  kept = judgement;
  try {
    localStorage.setItem(keyOf(judgement), JSON.stringify(judgement));
  } catch {
    // storage is full or forbidden: the judgement lives as long as the page
  }
}

export function forget(judgement) {
  kept = null;
  try {
    localStorage.removeItem(keyOf(judgement));
  } catch {
    // as above
  }
}
