// The duel page: two documents of a query, a grade for each. Grades go the way of all judgements, through the outbox.

import { fillDocument, toggleFold } from "./document.js";
import { showHeld } from "./held.js";
import { listen } from "./keys.js";
import { calm, waitFor } from "./notices.js";
import { Outbox, drain } from "./outbox.js";
import { ask, byId, rater, show, storage, store } from "./page.js";

const page = byId("main");
const maxGrade = Number(page.dataset.maxGrade);
const REST = 350; // milliseconds after a new duel in which a second key press is taken for a bounce
const cards = [...page.querySelectorAll("[data-place]")];

const outbox = new Outbox(storage(), store, rater);
let duel = null;
let readyAt = Infinity;

const enter = (state) => (page.dataset.state = state); // loading, ready, sending, waiting, none
const can = (event) => page.dataset.state === "ready" && event.timeStamp >= readyAt;

function judge(event, place, grade) {
  if (!can(event) || place < 0) return;
  const { query, doc } = duel.docs[place];
  Object.assign(duel.docs[place], { judged: true, grade });
  mark();
  outbox.keep("/api/labels", { query, doc, grade, page: "duel" });
  send();
}

function undo(event) {
  if (page.dataset.state !== "none" && !can(event)) return;
  outbox.keep("/api/undo", { page: "duel" });
  send();
}

async function skip(event) {
  if (!can(event)) return;
  enter("sending");
  try {
    showDuel(await ask("POST", "/api/skip-duel", { query: duel.query }));
  } catch (problem) {
    wait(problem, "The page waits for it", load);
  }
}

async function send() {
  enter("sending");
  try {
    const last = await drain(outbox, ({ path, body }) => ask("POST", path, body));
    calm();
    showHeld(outbox);
    const half = last?.answer.label && duel && duel.docs.some((doc) => !doc.judged);
    if (half) return enter("ready"); // the other document is still to be graded
    await load();
  } catch (problem) {
    wait(problem, outbox.pending().length ? "Your judgement is kept on this device and will be sent" : "The page waits for it", send);
  }
}

async function load() {
  enter("loading");
  try {
    const answer = await ask("GET", "/api/duel");
    calm();
    showDuel(answer);
  } catch (problem) {
    wait(problem, "The page waits for it", load);
  }
}

function wait(problem, what, again) {
  enter("waiting");
  waitFor(problem, what, again);
}

function showDuel({ duel: next, check }) {
  duel = next;
  byId("line").textContent = check ? check.line : "";
  show(byId("duel"), Boolean(duel));
  show(byId("none"), !duel);
  if (!duel) {
    byId("none-text").textContent = check
      ? "There is no duel left for you: they have decided, or others have those that are left."
      : "Train a model on the overview first: then it can be compared with today's ranking.";
    return enter("none");
  }
  byId("query").textContent = duel.docs[0].query_text || duel.query;
  byId("query-id").textContent = duel.docs[0].query_text ? duel.query : "";
  cards.forEach((card, place) => {
    fillDocument(card, duel.docs[place]);
  });
  mark();
  readyAt = performance.now() + REST;
  setTimeout(() => enter("ready"), REST);
}

function mark() {
  cards.forEach((card, place) => {
    const { judged, grade } = duel.docs[place];
    for (const button of card.querySelectorAll("[data-grade]")) {
      button.toggleAttribute("data-given", judged && Number(button.dataset.grade) === grade);
    }
  });
}

const firstFree = () => duel.docs.findIndex((doc) => !doc.judged);
const more = () => cards.forEach(toggleFold);
const actions = { s: skip, u: undo, m: more };
for (let grade = 0; grade <= Math.min(maxGrade, 9); grade += 1) actions[grade] = (event) => duel && judge(event, firstFree(), grade);
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
