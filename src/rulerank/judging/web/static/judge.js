// The judging page: one document on screen; labels go through the outbox.

import { fillDocument, toggleFold } from "./document.js";
import { showHeld } from "./held.js";
import { listen } from "./keys.js";
import { calm, notify, waitFor } from "./notices.js";
import { Outbox, drain } from "./outbox.js";
import { Silence, announce, ask, byId, put, rater, show, storage, store } from "./page.js";
import { showProgress } from "./progress.js";
import { showResult, showText } from "./result.js";

const page = byId("judge");
const maxGrade = Number(page.dataset.maxGrade);
const REST = 350; // milliseconds after a new document in which key presses are ignored

const outbox = new Outbox(storage(), store, rater);
let task = null;
let readyAt = Infinity; // time from which the document can be judged
let keepGoing = {};

// loading, ready (a document can be judged), sending, waiting (for the server), done
function enter(state) {
  page.dataset.state = state;
  const isReady = state === "ready";
  for (const button of page.querySelectorAll("[data-grade], [data-action=cannot], [data-action=skip]")) {
    button.setAttribute("aria-disabled", String(!isReady));
  }
  page.querySelector("[data-action=undo]").setAttribute("aria-disabled", String(!isReady && state !== "done"));
}

const can = (...states) => states.includes(page.dataset.state);

// Events from before the document was on screen were meant for the previous one.
const isMeant = (event) => event.timeStamp >= readyAt;

function judge(event, grade) {
  if (!can("ready") || !isMeant(event)) return;
  press("/api/labels", { query: task.query, doc: task.doc, grade, page: "document" });
}

function skip(event) {
  if (!can("ready") || !isMeant(event)) return;
  press("/api/skip", { query: task.query, doc: task.doc });
}

function undo(event) {
  if (!can("ready", "done") || !isMeant(event)) return;
  press("/api/undo", { page: "document" });
}

function press(path, body) {
  outbox.keep(path, body);
  send();
}

async function send() {
  enter("sending");
  try {
    const last = await drain(outbox, ({ path, body }) => ask("POST", path, body, path === "/api/undo" ? {} : keepGoing));
    calm();
    showHeld(outbox);
    if (!last || !("task" in last.answer)) return load(); // sent by another tab, refused, or of another page
    say(last);
    showTask(last.answer.task || !last.answer.undone ? last.answer : await ask("GET", "/api/next", undefined, keepGoing));
  } catch (problem) {
    wait(problem, outbox.pending().length ? "Your judgement is stored on this device and will be sent" : "Waiting for the server", send);
  }
}

function say({ judgement, answer }) {
  const { query, doc } = judgement.body;
  const { label, undone } = answer;
  if (label) showResult({ ...answer, task: task && task.query === query && task.doc === doc ? task : null });
  else if (judgement.path === "/api/skip") showText("Skipped", "Left to other raters.");
  else if (undone) showText("Undone", `Your label for ${answer.task?.title || undone.doc}, shown again.`);
  else showText("Nothing to undo", "You have no labels left.");
}

async function load() {
  enter("loading");
  const { query, doc } = page.dataset;
  try {
    const answer = query && doc ? await ask("GET", "/api/document", undefined, { query, doc }) : await ask("GET", "/api/next", undefined, keepGoing);
    calm();
    if (query && doc) answer.task.revising = true;
    showTask(answer);
  } catch (problem) {
    if (problem instanceof Silence) return wait(problem, "Waiting for the server", load);
    if (query && doc) {
      leaveRevising();
      await load();
    }
    notify(problem.message);
  }
}

function wait(problem, what, again) {
  enter("waiting");
  waitFor(problem, what, again);
}

function leaveRevising() {
  delete page.dataset.query;
  delete page.dataset.doc;
  history.replaceState(null, "", `${location.pathname}?${new URLSearchParams({ rater })}`);
}

function showTask({ task: next, progress }) {
  if (!next?.revising) leaveRevising();
  task = next;
  showProgress(progress);
  show(byId("task"), Boolean(task));
  show(byId("done"), !task);
  if (!task) {
    byId("done-text").textContent = sentence(progress.reason || "all documents have enough labels");
    announce("Nothing left to judge.");
    readyAt = performance.now();
    return enter("done");
  }
  put("query", task.query_text || task.query);
  put("query-id", task.query_text ? task.query : "");
  put("description", task.description);
  put("doc-id", task.title ? task.doc : "");
  fillDocument(byId("document"), task);
  show(byId("no-text"), !task.text && !task.fields.length);
  showRevising();
  window.scrollTo(0, 0);
  announce(`New document: ${task.title || task.doc}. Query: ${task.query_text || task.query}.`);
  requestAnimationFrame(rest); // before the browser draws it
}

function rest() {
  readyAt = performance.now() + REST;
  setTimeout(() => can("sending", "loading") && enter("ready"), REST);
}

function showRevising() {
  for (const button of page.querySelectorAll("[data-grade]")) {
    const isGiven = Boolean(task.judged) && Number(button.dataset.grade) === task.grade;
    button.toggleAttribute("data-given", isGiven);
  }
  const given = task.grade === null ? "“cannot judge”" : `grade ${task.grade}`;
  put("revising", task.judged ? `Your current label: ${given}. A new one replaces it.` : "");
}

function sentence(words) {
  return `${words[0].toUpperCase()}${words.slice(1)}.`;
}

const more = () => toggleFold(byId("document"));
const help = () => byId("help").showModal();
const actions = { s: skip, x: (event) => judge(event, null), u: undo, m: more, "?": help };
for (let grade = 0; grade <= Math.min(maxGrade, 9); grade += 1) actions[grade] = (event) => judge(event, grade);
listen(actions);

for (const button of page.querySelectorAll("[data-grade]")) {
  button.addEventListener("click", (event) => judge(event, Number(button.dataset.grade)));
}
page.querySelector("[data-action=cannot]").addEventListener("click", actions.x);
page.querySelector("[data-action=skip]").addEventListener("click", actions.s);
page.querySelector("[data-action=undo]").addEventListener("click", undo);
page.querySelector("[data-action=help]").addEventListener("click", help);
byId("document").querySelector("[data-part=more]").addEventListener("click", more);
byId("keep-going").addEventListener("click", () => {
  keepGoing = { keep_going: "true" };
  load();
});

showHeld(outbox);
if (outbox.pending().length) send();
else load();
