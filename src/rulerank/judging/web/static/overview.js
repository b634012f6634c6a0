// The button that trains the model, and how far that has come: also what another page has begun.

import { ask, byId, show } from "./page.js";

const form = byId("train"); // only the lead has one
const result = byId("train-result");
const AN_HOUR = 3_600_000; // milliseconds
const A_SECOND = 1000;

let isOurs = false; // the training that is under way

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  if (button.disabled) return;
  button.disabled = isOurs = true;
  say("Training …", false);
  const clock = setInterval(tellProgress, A_SECOND);
  try {
    tellSaved(await ask("POST", "/api/train", { method: byId("method").value }, {}, AN_HOUR));
  } catch (problem) {
    say(`Not saved: ${problem.message}.`, true);
  }
  clearInterval(clock);
  button.disabled = isOurs = false;
});

byId("method")?.addEventListener("change", ({ target }) => {
  byId("train-command").textContent = target.selectedOptions[0].dataset.command;
});

if (form) tellProgress();

async function tellProgress() {
  let training;
  try {
    ({ training } = await ask("GET", "/api/training"));
  } catch {
    return; // the training itself says when the server is gone
  }
  if (training?.running) {
    const { method, n_labels, seconds } = training;
    say(`Training ${method} on ${n_labels.toLocaleString("en")} labels: ${Math.round(seconds)} s so far. Raters go on meanwhile.`, false);
    if (!isOurs) setTimeout(tellProgress, A_SECOND);
  } else if (!isOurs && training?.saved) {
    tellSaved(training.saved);
  } else if (!isOurs && training?.problem) {
    say(`Not saved: ${training.problem}.`, true);
  }
}

function tellSaved({ path, method, n_labels, notes }) {
  say([`Saved ${path}: ${method}, trained on ${n_labels} labels.`, ...notes.map((note) => `Mind: ${note}.`)].join(" "), false);
  show(byId("train-next"));
}

function say(text, isBad) {
  result.textContent = text;
  result.classList.toggle("bad", isBad);
  show(result);
}
