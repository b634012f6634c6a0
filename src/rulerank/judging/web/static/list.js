// The list of a query: all documents on screen, keys move and grade; labels go through the outbox.

import { fillDocument, toggleFold } from "./document.js";
import { showHeld } from "./held.js";
import { listen } from "./keys.js";
import { aboutList, cardOf, makeCurrent, markCard, titleOf } from "./list_cards.js";
import { calm, notify, waitFor } from "./notices.js";
import { Outbox, drain } from "./outbox.js";
import { Silence, announce, ask, byId, put, rater, show, storage, store } from "./page.js";
import { showProgress } from "./progress.js";

const page = byId("list");
const cards = byId("cards");
const maxGrade = Number(page.dataset.maxGrade);
const names = JSON.parse(page.dataset.names);
const REST = 350; // milliseconds after a new list in which key presses are ignored
const KEPT = "Your judgements are stored on this device and will be sent";
const outbox = new Outbox(storage(), store, rater);
let list = null;
let at = 0; // index of the current card
let readyAt = Infinity;
let keepGoing = {};
let isSending = false;
let isLeaving = false; // for the next list, after sending
let isWarned = false; // about documents without a grade

const isUndoing = () => outbox.pending().some(({ path }) => path === "/api/undo");
// Until an undo is answered, it is unknown which document a key would grade.
const afterUndo = (action) => (event) => (isUndoing() ? say("Your undo is not done yet: wait a moment, then press the key again.") : action(event));

// loading, ready, done (no list)
const enter = (state) => (page.dataset.state = state);
const can = (event) => page.dataset.state === "ready" && event.timeStamp >= readyAt;
const places = () => list.docs.keys();
const left = () => list.docs.filter((doc) => !doc.judged);

// Called by the cards.
const placeOf = (card) => [...cards.children].indexOf(card);
const called = {
  click: (card) => go(placeOf(card), false),
  focus: (card) => placeOf(card) !== at && go(placeOf(card), false),
  grade: (card, grade) => afterUndo((event) => judge(event, placeOf(card), grade)),
};

function judge(event, place, grade) {
  if (!can(event)) return;
  put("said", "");
  isWarned = false;
  const doc = list.docs[place];
  Object.assign(doc, { judged: true, grade, waits: true });
  outbox.keep("/api/labels", { query: list.query, doc: doc.doc, grade, page: "list" });
  mark(place);
  send();
  const next = [...places()].map((step) => (place + 1 + step) % list.docs.length).find((other) => !list.docs[other].judged);
  const said = grade === null ? "Cannot judge" : `Grade ${grade}`;
  if (next === undefined) {
    announce(`${said}. All documents of this list are judged.`);
    go(place, false);
  } else {
    announce(`${said}. Next: ${titleOf(list.docs[next])}`);
    go(next);
  }
}

function undo(event) {
  if (!can(event) && page.dataset.state !== "done") return;
  isWarned = false;
  outbox.keep("/api/undo", { page: "list" });
  send();
}

function leave(event) {
  if (!can(event)) return;
  const skipped = left();
  if (skipped.length && !isWarned) {
    isWarned = true;
    const what = skipped.length === 1 ? "1 document has" : `${skipped.length} documents have`;
    return say(`${what} no grade yet. Press n again to leave ${skipped.length === 1 ? "it" : "them"} to other raters.`);
  }
  for (const { doc } of skipped) outbox.keep("/api/skip", { query: list.query, doc, page: "list" });
  isLeaving = true;
  send();
}

async function send() {
  if (isSending) return; // it will be sent with the rest
  isSending = true;
  try {
    do {
      await drain(outbox, sendOne);
      calm();
      showHeld(outbox);
      if (list) takeRefusals();
      if (isLeaving) {
        isLeaving = false;
        await load(); // retries by itself
      }
    } while (isLeaving || outbox.pending().length); // new key presses
  } catch (problem) {
    waitFor(problem, outbox.pending().length ? KEPT : "Waiting for the server", send);
  } finally {
    isSending = false;
  }
}

async function sendOne({ path, body }) {
  const answer = await ask("POST", path, body);
  showProgress(answer.progress);
  if (path === "/api/undo") await takeBack(answer);
  const place = list ? [...places()].find((one) => list.query === body.query && list.docs[one].doc === body.doc) : undefined;
  if (place !== undefined) {
    list.docs[place].waits = false;
    mark(place);
    if (!byId("finished").hidden) byId("finished").scrollIntoView({ block: "nearest" });
  }
  return answer;
}

async function takeBack({ undone, task }) {
  if (!undone) return say("Nothing to undo: you have no labels left.");
  if (undone.query !== list?.query) await load(undone.query);
  if (!list) return;
  const place = list.docs.findIndex(({ doc }) => doc === undone.doc);
  say(`Undone: your label for ${task ? titleOf(task) : undone.doc}.`);
  if (place < 0) return;
  Object.assign(list.docs[place], { judged: Boolean(task?.judged), grade: task?.grade ?? null, waits: false });
  mark(place);
  go(place);
}

// Remove grades that the server refused.
function takeRefusals() {
  for (const { body } of outbox.refused()) {
    const place = list.docs.findIndex(({ doc, waits }) => waits && body.query === list.query && body.doc === doc);
    if (place < 0) continue;
    Object.assign(list.docs[place], { judged: false, grade: null, waits: false });
    mark(place);
  }
}

async function load(query) {
  enter("loading");
  try {
    const answer = await ask("GET", "/api/list", undefined, query ? { query } : keepGoing);
    calm();
    draw(answer);
  } catch (problem) {
    if (!(problem instanceof Silence)) return notify(problem.message);
    waitFor(problem, "Waiting for the server", () => load(query));
  }
}

function draw({ list: next, progress }) {
  list = next;
  isWarned = false;
  put("said", "");
  showProgress(progress);
  show(byId("task"), Boolean(list));
  show(byId("done"), !list);
  show(byId("finished"), false);
  if (!list) {
    byId("done-text").textContent = `${progress.reason[0].toUpperCase()}${progress.reason.slice(1)}.`;
    announce("No lists left.");
    return enter("done");
  }
  const [{ query_text: words, description }] = list.docs.length ? list.docs : [{}];
  put("query", words || list.query);
  put("query-id", words ? list.query : "");
  put("description", description);
  put("about", aboutList(list));
  cards.replaceChildren(...list.docs.map((doc) => cardOf(doc, names, called)));
  for (const place of places()) {
    fillDocument(cards.children[place].firstElementChild, list.docs[place]);
    mark(place);
  }
  window.scrollTo(0, 0);
  announce(`List of ${list.docs.length} documents. Query: ${words || list.query}.`);
  const first = list.docs.findIndex((doc) => !doc.judged);
  requestAnimationFrame(() => {
    readyAt = performance.now() + REST;
    setTimeout(() => page.dataset.state === "loading" && enter("ready"), REST);
    go(Math.max(0, first), first > 0);
  });
}

function mark(place) {
  markCard(cards.children[place], list.docs[place]);
  const n = list.docs.length - left().length;
  byId("count").textContent = `${n} of ${list.docs.length} judged`;
  show(byId("finished"), n === list.docs.length && !list.docs.some(({ waits }) => waits));
}

function go(place, scroll = true) {
  at = place;
  makeCurrent(cards, at, scroll);
}

const step = (by) => () => page.dataset.state === "ready" && go(Math.min(list.docs.length - 1, Math.max(0, at + by)));

function say(text) {
  put("said", text);
  announce(text);
}

const help = () => byId("help").showModal();
const more = () => list && toggleFold(cards.children[at].firstElementChild);
const cannot = (event) => list && judge(event, at, null);
const moving = { j: step(1), ArrowDown: step(1), k: step(-1), ArrowUp: step(-1) };
const actions = { ...moving, x: cannot, u: undo, n: leave, m: more, "?": help };
for (let grade = 0; grade <= Math.min(maxGrade, 9); grade += 1) actions[grade] = (event) => list && judge(event, at, grade);
for (const key of Object.keys(actions)) if (!["m", "?"].includes(key)) actions[key] = afterUndo(actions[key]);
listen(actions, Object.keys(moving));

for (const [name, action] of Object.entries({ undo: actions.u, next: actions.n, help })) {
  for (const button of page.querySelectorAll(`[data-action=${name}]`)) button.addEventListener("click", action);
}
byId("keep-going").addEventListener("click", () => {
  keepGoing = { keep_going: "true" };
  load();
});

showHeld(outbox);
isLeaving = true; // send stored judgements first, then load a list
send();
