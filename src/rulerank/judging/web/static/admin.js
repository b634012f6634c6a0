// The admin page: personal links, kinds of raters, settings.

import { ask, byId, show } from "./page.js";

const FIVE_MINUTES = 300_000; // milliseconds

byId("invite")?.addEventListener("submit", (event) => {
  event.preventDefault();
  showLink(byId("name").value.trim());
});

for (const button of document.querySelectorAll("button.invite")) {
  button.addEventListener("click", () => showLink(button.dataset.name));
}

async function showLink(name) {
  try {
    const { rater, path } = await ask("POST", "/api/invite", { name });
    byId("link-name").textContent = rater;
    byId("link-text").value = new URL(path, location.origin).href;
    show(byId("copied"), false);
    show(byId("link"));
    byId("link-text").select();
    say("kind-result", "", false);
  } catch (problem) {
    show(byId("link"), false);
    say("kind-result", `No link: ${problem.message}.`, true);
  }
}

byId("copy")?.addEventListener("click", async () => {
  const text = byId("link-text");
  try {
    await navigator.clipboard.writeText(text.value);
    show(byId("copied"));
  } catch {
    text.select(); // without permission to copy, the text is selected
  }
});

for (const select of document.querySelectorAll("select.kind")) {
  select.addEventListener("change", () => sendForm("kind-result", "POST", "/api/raters", { name: select.dataset.rater, kind: select.value }, () => {
    location.reload(); // the settings depend on it
  }));
}

byId("settings").addEventListener("submit", (event) => {
  event.preventDefault();
  const raters = [...event.target.querySelectorAll("input[name=training_raters]:checked")].map((box) => box.value);
  const values = {
    combine: byId("combine").value,
    judgements: Number(byId("judgements").value),
    training_raters: raters,
  };
  sendForm("settings-result", "POST", "/api/settings", values, () => "Settings saved. They apply to all raters and to existing labels.");
});

async function sendForm(place, method, path, values, done) {
  try {
    say(place, done(await ask(method, path, values, {}, FIVE_MINUTES)) ?? "", false);
  } catch (problem) {
    say(place, `Nothing changed: ${problem.message}.`, true);
  }
}

function say(id, text, isBad) {
  const place = byId(id);
  place.textContent = text;
  place.classList.toggle("bad", isBad);
  show(place, text !== "");
}
