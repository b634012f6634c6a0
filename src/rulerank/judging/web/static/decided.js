// The admin's decisions, by page, each with a button to change it.

import { ask, byId, element, show } from "./page.js";

let number = 1;

// Load and draw the current page; its buttons call change(dispute).
export async function showDecided(change) {
  const { disputes, found, page, pages } = await ask("GET", "/api/disputes", undefined, { state: "decided", page: String(number) });
  number = page;
  show(byId("decided-none"), !found);
  show(byId("decided-table"), found > 0);
  byId("decided").replaceChildren(...disputes.map((one) => row(one, change)));
  show(byId("decided-pager"), pages > 1);
  byId("decided-page").textContent = `Page ${page} of ${pages}.`;
  for (const button of document.querySelectorAll("[data-turn]")) {
    const to = page + Number(button.dataset.turn);
    button.disabled = to < 1 || to > pages;
  }
}

export function turnTo(by, change) {
  number += by;
  return showDecided(change);
}

function row(one, change) {
  const { task, decision } = one;
  const title = task.title || task.doc;
  const button = element("button", { type: "button" }, "Change", element("span", { class: "unseen" }, ` ${title}`));
  button.addEventListener("click", () => change(one));
  return element(
    "tr",
    {},
    element("td", {}, element("span", { class: "grade" }, decision.grade === null ? "x" : String(decision.grade))),
    element("td", {}, title, element("br"), element("span", { class: "quiet" }, task.query_text || task.query)),
    element("td", { class: "roomy" }, decision.rater),
    element("td", { class: "quiet roomy" }, element("time", { datetime: decision.time, title: "UTC" }, decision.time.slice(0, 16).replace("T", " "))),
    element("td", { class: "number" }, button),
  );
}
