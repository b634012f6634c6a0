// The button that trains the model.

import { ask, byId, show } from "./page.js";

const form = byId("train");
const result = byId("train-result");
const TEN_MINUTES = 600_000; // milliseconds

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  if (button.disabled) return;
  button.disabled = true;
  say("Training …", false);
  try {
    const { path, method, n_labels, notes } = await ask("POST", "/api/train", { method: byId("method").value }, {}, TEN_MINUTES);
    say([`Saved ${path}: ${method}, trained on ${n_labels} labels.`, ...notes.map((note) => `Mind: ${note}.`)].join(" "), false);
  } catch (problem) {
    say(`Not saved: ${problem.message}.`, true);
  }
  button.disabled = false;
});

byId("method").addEventListener("change", ({ target }) => {
  byId("train-command").textContent = target.selectedOptions[0].dataset.command;
});

function say(text, isBad) {
  result.textContent = text;
  result.classList.toggle("bad", isBad);
  show(result);
}
