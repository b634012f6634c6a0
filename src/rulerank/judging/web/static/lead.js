// The lead's page: personal links, what raters are, settings, more documents.

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
    text.select(); // where a browser does not let pages copy, the reader can
  }
});

for (const select of document.querySelectorAll("select.kind")) {
  select.addEventListener("change", () => sendForm("kind-result", "POST", "/api/judges", { judge: select.dataset.judge, kind: select.value }, () => {
    location.reload(); // what counts in training depends on it
  }));
}

byId("settings").addEventListener("submit", (event) => {
  event.preventDefault();
  const judges = [...event.target.querySelectorAll("input[name=training_judges]:checked")].map((box) => box.value);
  const values = {
    combine: byId("combine").value,
    judgements: Number(byId("judgements").value),
    training_judges: judges,
    preferences: byId("preferences").checked,
  };
  sendForm("settings-result", "POST", "/api/settings", values, () => "Saved: it holds for all raters and labels from now on.");
});

byId("grow")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = event.target.querySelector("button");
  const [file] = byId("file").files;
  if (!file || button.disabled) return;
  button.disabled = true;
  say("grow-result", "Looking through it …", false);
  const content = await textOf(file);
  if (content !== null) await sendForm("grow-result", "POST", "/api/pool", { name: file.name.slice(-100), content }, ({ docs, queries, pool_size }) =>
    `Added ${counted(docs, "document", "documents")}, ${counted(queries, "new query", "new queries")}; the pool has ${pool_size.toLocaleString("en")} documents now.`);
  button.disabled = false;
});

// The text of a file; null: it has none that could be sent, which was said. No sign is ever put in place of another.
async function textOf(file) {
  const most = Number(byId("grow").dataset.mostBytes);
  let problem = `${file.name} has ${Math.ceil(file.size / 2 ** 20)} MB, and at most ${most / 2 ** 20} MB can be added at once: add it in parts`;
  if (file.size <= most) {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    } catch {
      problem = `${file.name} is not text in UTF-8: save it as csv in UTF-8`;
    }
  }
  say("grow-result", `Nothing changed: ${problem}.`, true);
  return null;
}

async function sendForm(place, method, path, values, done) {
  try {
    say(place, done(await ask(method, path, values, {}, FIVE_MINUTES)) ?? "", false);
  } catch (problem) {
    say(place, `Nothing changed: ${problem.message}.`, true);
  }
}

function counted(n, one, many) {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

function say(id, text, isBad) {
  const place = byId(id);
  place.textContent = text;
  place.classList.toggle("bad", isBad);
  show(place, text !== "");
}
