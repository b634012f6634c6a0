// The admin's disputes: one document on screen with its labels. Decisions go through the outbox.

import { showDecided, turnTo } from "./decided.js";
import { fillDocument, toggleFold } from "./document.js";
import { showHeld } from "./held.js";
import { listen } from "./keys.js";
import { calm, waitFor } from "./notices.js";
import { Outbox, drain } from "./outbox.js";
import { announce, ask, byId, element, put, rater, show, storage, store } from "./page.js";

const page = byId("disputes");
const maxGrade = Number(page.dataset.maxGrade);
const names = JSON.parse(page.dataset.names);
const kinds = JSON.parse(page.dataset.kinds);
const REST = 350; // milliseconds after a new document in which key presses are ignored

const outbox = new Outbox(storage(), store, rater);
const seen = []; // loaded disputes, in the order of n and p
const own = []; // decisions made here, the latest last
let at = 0; // index in seen; seen.length: nothing is shown
let readyAt = Infinity;

// loading, ready (a document can be decided), sending, waiting (for the server), done (no open disputes)
function enter(state) {
  page.dataset.state = state;
  for (const button of page.querySelectorAll(".bar [data-grade], [data-action=cannot]")) {
    button.setAttribute("aria-disabled", String(state !== "ready"));
  }
}

const can = (...states) => states.includes(page.dataset.state);
const isSame = (one, { query, doc }) => one.task.query === query && one.task.doc === doc;
const find = (pair) => seen.find((one) => isSame(one, pair));
const pairOf = ({ task }) => ({ query: task.query, doc: task.doc });

function decide(event, grade) {
  if (!can("ready") || event.timeStamp < readyAt) return;
  outbox.keep("/api/decisions", { ...pairOf(seen[at]), grade, page: "disputes" });
  send();
}

function undo(event) {
  if (!can("ready", "done") || (can("ready") && event.timeStamp < readyAt)) return;
  const what = seen[at]?.decision ? pairOf(seen[at]) : own.at(-1);
  if (!what) return say("Nothing to undo: open a document in the list of decisions, then press u.");
  outbox.keep("/api/undo-decision", { ...what, page: "disputes" });
  send();
}

async function send() {
  enter("sending");
  let last = null;
  try {
    await drain(outbox, async (judgement) => {
      const answer = await ask("POST", judgement.path, judgement.body);
      if ("left" in answer) last = take(judgement, answer);
      return answer;
    });
    calm();
    showHeld(outbox);
    await showDecided(change);
    if (last?.path === "/api/undo-decision") await open(last.body);
    else await toNextOpen(last ? at + 1 : at);
  } catch (problem) {
    wait(problem, outbox.pending().length ? "Your decision is stored on this device and will be sent" : "Waiting for the server", send);
  }
}

// Record and show what the server has stored.
function take(judgement, answer) {
  const { path, body } = judgement;
  const one = find(body);
  if (one) one.decision = answer.decision;
  const place = own.findIndex(({ query, doc }) => query === body.query && doc === body.doc);
  if (place >= 0) own.splice(place, 1);
  const title = one?.task.title || body.doc;
  if (path === "/api/decisions") {
    own.push({ query: body.query, doc: body.doc });
    say(`Decided: ${said(body.grade)} for ${title}.`);
  } else if (!answer.undone) say(`No decision on ${title} to undo.`);
  else say(answer.decision ? `Undone: ${title} has its previous decision again.` : `Undone: your decision on ${title}, shown again.`);
  count(answer);
  return judgement;
}

// Show the next undecided document; then those that were skipped; then that all are done.
async function toNextOpen(from) {
  const isOpen = (one) => !one.decision;
  let place = seen.findIndex((one, number) => number >= from && isOpen(one));
  if (place < 0 && (await more())) return toNextOpen(from);
  if (place < 0) place = seen.findIndex(isOpen);
  at = place < 0 ? seen.length : place;
  draw();
}

// Load new disputes; false if there are none.
async function more() {
  for (let number = 1, pages = 1; number <= pages; number += 1) {
    const answer = await ask("GET", "/api/disputes", undefined, { state: "open", page: String(number) });
    pages = answer.pages;
    count(answer);
    const fresh = answer.disputes.filter(({ task }) => !find(task));
    seen.push(...fresh);
    if (fresh.length) return true;
  }
  return false;
}

async function step(by) {
  if (!can("ready", "done")) return;
  quiet();
  const place = at + by;
  if (place < 0) return say("This is the first dispute.");
  if (place < seen.length) return move(place);
  enter("loading");
  try {
    if (await more()) return move(place);
    if (seen.length) say("That was the last dispute; continuing with the first open one.");
    await toNextOpen(0);
  } catch (problem) {
    wait(problem, "Waiting for the server", load);
  }
}

function move(place) {
  at = place;
  draw();
}

// Show a document that was decided before.
function change(one) {
  if (!can("ready", "done")) return;
  quiet();
  const place = seen.findIndex((other) => isSame(other, one.task));
  if (place >= 0) seen[place] = one;
  else seen.splice(at, 0, one);
  move(place >= 0 ? place : at);
  byId("main").scrollIntoView();
}

// The same by ids, after an undo.
async function open(pair) {
  if (!find(pair)) await more();
  const place = seen.findIndex((one) => isSame(one, pair));
  if (place < 0) return toNextOpen(at);
  move(place);
}

async function load() {
  enter("loading");
  try {
    await showDecided(change);
    calm();
    await toNextOpen(at);
  } catch (problem) {
    wait(problem, "Waiting for the server", load);
  }
}

function wait(problem, what, again) {
  enter("waiting");
  waitFor(problem, what, again);
}

function draw() {
  const one = seen[at];
  show(byId("task"), Boolean(one));
  show(byId("done"), !one);
  if (!one) {
    put("done-text", seen.length ? "All disputes are decided." : "No open disputes. A dispute needs different grades from two or more raters.");
    announce("No open disputes.");
    return enter("done");
  }
  const { task } = one;
  put("query", task.query_text || task.query);
  put("query-id", task.query_text ? task.query : "");
  put("description", task.description);
  put("doc-id", task.title ? task.doc : "");
  fillDocument(byId("document"), task);
  byId("summary").replaceChildren(...one.labels.map(({ rater: who, grade }) => element("span", {}, `${who} `, badge(grade))));
  byId("votes").replaceChildren(...one.labels.map(vote));
  put("decision", one.decision ? `Decided by ${one.decision.rater}: ${said(one.decision.grade)}. Press another number to change it, u to undo it.` : "");
  for (const button of page.querySelectorAll(".bar [data-grade]")) {
    button.toggleAttribute("data-given", Boolean(one.decision) && Number(button.dataset.grade) === one.decision.grade);
  }
  announce(`${task.title || task.doc}. Query: ${task.query_text || task.query}. ${one.labels.map(({ rater: who, grade }) => `${who}: ${said(grade)}`).join(", ")}.`);
  window.scrollTo(0, 0);
  requestAnimationFrame(() => {
    readyAt = performance.now() + REST;
    enter("ready");
  });
}

function vote({ rater: who, kind, grade, time }) {
  const isPerson = kind === "person";
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, who, isPerson ? null : element("span", { class: "quiet" }, ` ${kinds[kind]}`)),
    element("td", {}, badge(grade), ` ${grade === null ? "cannot judge" : names[grade]}`),
    element("td", { class: "quiet" }, element("time", { datetime: time, title: "UTC" }, time.slice(0, 16).replace("T", " "))),
  );
}

function count({ left, decided }) {
  put("progress-text", `${left.toLocaleString("en")} ${left === 1 ? "dispute" : "disputes"} left · ${decided.toLocaleString("en")} decided`);
  byId("progress-bar").value = left + decided ? decided / (left + decided) : 1;
}

const badge = (grade) => element("span", { class: "grade" }, grade === null ? "x" : String(grade));
const said = (grade) => (grade === null ? "“cannot judge”" : `grade ${grade}`);
const say = (text) => put("said", text);
const quiet = () => put("said", "");

const fold = () => toggleFold(byId("document"));
const help = () => byId("help").showModal();
const actions = { x: (event) => decide(event, null), u: undo, n: () => step(1), p: () => step(-1), m: fold, "?": help };
for (let grade = 0; grade <= Math.min(maxGrade, 9); grade += 1) actions[grade] = (event) => decide(event, grade);
listen(actions, ["n", "p"]);

for (const button of page.querySelectorAll(".bar [data-grade]")) {
  button.addEventListener("click", (event) => decide(event, Number(button.dataset.grade)));
}
for (const [name, action] of Object.entries({ cannot: actions.x, previous: actions.p, next: actions.n, undo, help })) {
  page.querySelector(`[data-action=${name}]`).addEventListener("click", action);
}
byId("document").querySelector("[data-part=more]").addEventListener("click", fold);
for (const button of page.querySelectorAll("[data-turn]")) {
  button.addEventListener("click", () => turnTo(Number(button.dataset.turn), change).catch((problem) => say(`${problem.message}.`)));
}

showHeld(outbox);
if (outbox.pending().length) send();
else load();
