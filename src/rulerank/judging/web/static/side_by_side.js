// Comparison with the baseline: two documents of a query, a grade for each. Labels go through the outbox.

import { fillDocument, toggleFold } from "./document.js";
import { showHeld } from "./held.js";
import { listen } from "./keys.js";
import { calm, waitFor } from "./notices.js";
import { Outbox, drain } from "./outbox.js";
import { ask, byId, rater, show, storage, store } from "./page.js";

const page = byId("main");
const maxGrade = Number(page.dataset.maxGrade);
const REST = 350; // milliseconds after a new pair in which key presses are ignored
const cards = [...page.querySelectorAll("[data-place]")];

const outbox = new Outbox(storage(), store, rater);
let pair = null;
let readyAt = Infinity;

const enter = (state) => (page.dataset.state = state); // loading, ready, sending, waiting, none
const can = (event) => page.dataset.state === "ready" && event.timeStamp >= readyAt;

function judge(event, place, grade) {
  if (!can(event) || place < 0) return;
  const { query, doc } = pair.docs[place];
  Object.assign(pair.docs[place], { judged: true, grade });
  mark();
  outbox.keep("/api/labels", { query, doc, grade, page: "side-by-side" });
  send();
}

function undo(event) {
  if (page.dataset.state !== "none" && !can(event)) return;
  outbox.keep("/api/undo", { page: "side-by-side" });
  send();
}

async function skip(event) {
  if (!can(event)) return;
  enter("sending");
  try {
    showPair(await ask("POST", "/api/skip-pair", { query: pair.query }));
  } catch (problem) {
    wait(problem, "Waiting for the server", load);
  }
}

async function send() {
  enter("sending");
  try {
    const last = await drain(outbox, ({ path, body }) => ask("POST", path, body));
    calm();
    showHeld(outbox);
    const half = last?.answer.label && pair && pair.docs.some((doc) => !doc.judged);
    if (half) return enter("ready"); // the other document has no grade yet
    await load();
  } catch (problem) {
    wait(problem, outbox.pending().length ? "Your judgement is stored on this device and will be sent" : "Waiting for the server", send);
  }
}

async function load() {
  enter("loading");
  try {
    const answer = await ask("GET", "/api/pair");
    calm();
    showPair(answer);
  } catch (problem) {
    wait(problem, "Waiting for the server", load);
  }
}

function wait(problem, what, again) {
  enter("waiting");
  waitFor(problem, what, again);
}

function showPair({ pair: next, check }) {
  pair = next;
  byId("line").textContent = check ? check.line : "";
  show(byId("pair"), Boolean(pair));
  show(byId("none"), !pair);
  if (!pair) {
    byId("none-text").textContent = check
      ? "No pairs left for you: the comparison is decided, or other raters have the rest."
      : "Train a model on the overview first, then compare it with the baseline ranking here.";
    return enter("none");
  }
  byId("query").textContent = pair.docs[0].query_text || pair.query;
  byId("query-id").textContent = pair.docs[0].query_text ? pair.query : "";
  cards.forEach((card, place) => {
    fillDocument(card, pair.docs[place]);
  });
  mark();
  readyAt = performance.now() + REST;
  setTimeout(() => enter("ready"), REST);
}

function mark() {
  cards.forEach((card, place) => {
    const { judged, grade } = pair.docs[place];
    for (const button of card.querySelectorAll("[data-grade]")) {
      button.toggleAttribute("data-given", judged && Number(button.dataset.grade) === grade);
    }
  });
}

const firstFree = () => pair.docs.findIndex((doc) => !doc.judged);
const more = () => cards.forEach(toggleFold);
const actions = { s: skip, u: undo, m: more };
for (let grade = 0; grade <= Math.min(maxGrade, 9); grade += 1) actions[grade] = (event) => pair && judge(event, firstFree(), grade);
listen(actions);
cards.forEach((card, place) => {
  card.querySelector("[data-part=more]").addEventListener("click", () => toggleFold(card));
  for (const button of card.querySelectorAll("[data-grade]")) {
    button.addEventListener("click", (event) => judge(event, place, Number(button.dataset.grade)));
  }
});
byId("skip").addEventListener("click", skip);
byId("undo").addEventListener("click", undo);

showHeld(outbox);
if (outbox.pending().length) send();
else load();
