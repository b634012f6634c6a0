// The button that trains the model.

import { ask, byId, element, show } from "./page.js";

const form = byId("train"); // admin only
const result = byId("train-result");
const AN_HOUR = 3_600_000; // milliseconds

form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  if (button.disabled) return;
  button.disabled = true;
  const began = performance.now();
  const tell = () => say(`Training: ${Math.round((performance.now() - began) / 1000)} s so far. Raters can continue.`, false);
  tell();
  const clock = setInterval(tell, 1000);
  try {
    tellSaved(await ask("POST", "/api/train", { method: byId("method").value }, {}, AN_HOUR));
  } catch (problem) {
    say(`Not saved: ${problem.message}.`, true);
  }
  clearInterval(clock);
  button.disabled = false;
});

byId("method")?.addEventListener("change", ({ target }) => {
  byId("train-command").textContent = target.selectedOptions[0].dataset.command;
});

function tellSaved({ path, method, n_labels, notes, lines }) {
  say([`Saved ${path}: ${method}, trained on ${n_labels} labels.`, ...notes.map((note) => `Warning: ${note}.`)].join(" "), false);
  byId("train-lines").replaceChildren(...lines.map((line) => element("li", {}, line.replaceAll(" %", "\u00a0%"))));
  show(byId("train-next"));
}

function say(text, isBad) {
  result.textContent = text;
  result.classList.toggle("bad", isBad);
  show(result);
}
