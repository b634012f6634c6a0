// The reasons of a document's place, asked for when somebody wants to know.

import { ask, byId, element } from "./page.js";

const query = byId("main").dataset.query;

for (const details of document.querySelectorAll("details[data-doc]")) {
  details.addEventListener("toggle", () => details.open && explain(details));
  if (details.open) explain(details); // somebody was quicker than this script
}

async function explain(details) {
  const list = details.querySelector("ul");
  if (list.children.length) return;
  list.replaceChildren(element("li", { class: "quiet" }, "Looking …"));
  try {
    const { reasons } = await ask("GET", "/api/reasons", undefined, { query, doc: details.dataset.doc });
    list.replaceChildren(...(reasons.length ? reasons : ["Nothing speaks for or against it."]).map((reason) => element("li", {}, reason)));
  } catch (problem) {
    list.replaceChildren();
    details.open = false;
    details.after(element("p", { class: "notice bad", role: "alert" }, `No reasons: ${problem.message}.`));
  }
}
