// The cards of a list: one document each, with grade buttons.

import { toggleFold } from "./document.js";
import { byId, show } from "./page.js";

export const titleOf = (doc) => doc.title || doc.doc;

// Describes the list in a sentence.
export function aboutList({ docs, n_others: n }) {
  const others = n ? `; ${n} of the top ${n + docs.length} ${n === 1 ? "is" : "are"} judged or assigned to other raters` : "";
  return `${docs.length} documents in random order${others}.`;
}

// names: of the grades; click, focus: called with the card; grade: returns the handler of a grade.
export function cardOf(doc, names, { click, focus, grade }) {
  const card = byId("card").content.cloneNode(true).firstElementChild;
  const article = card.firstElementChild;
  card.dataset.doc = doc.doc;
  article.setAttribute("aria-label", titleOf(doc));
  article.addEventListener("click", () => click(card));
  article.addEventListener("focus", () => focus(card));
  article.querySelector("[data-part=more]").addEventListener("click", () => toggleFold(article));
  for (const button of article.querySelectorAll("[data-grade]")) {
    const own = Number(button.dataset.grade);
    button.setAttribute("aria-label", `${own} ${names[own]}: ${titleOf(doc)}`);
    button.addEventListener("click", grade(card, own));
  }
  const cannot = article.querySelector("[data-action=cannot]");
  cannot.setAttribute("aria-label", `Cannot judge: ${titleOf(doc)}`);
  cannot.addEventListener("click", grade(card, null));
  return card;
}

// Show the label of a card's document, and whether it is saved.
export function markCard(card, { judged, grade, waits }) {
  const article = card.firstElementChild;
  article.classList.toggle("judged", judged);
  for (const button of article.querySelectorAll("[data-grade], [data-action=cannot]")) {
    const own = "grade" in button.dataset ? Number(button.dataset.grade) : null;
    button.setAttribute("aria-pressed", String(judged && own === grade));
  }
  article.querySelector(".state").textContent = waits ? "sending" : judged ? "saved" : "";
}

// Make a card the current one: it has the focus and is on screen.
export function makeCurrent(cards, at, scroll) {
  for (const [place, { firstElementChild: article }] of [...cards.children].entries()) {
    article.tabIndex = place === at ? 0 : -1;
    article.toggleAttribute("data-current", place === at);
  }
  const article = cards.children[at].firstElementChild;
  if (!article.contains(document.activeElement)) article.focus({ preventScroll: true });
  if (scroll) article.scrollIntoView({ block: "center" });
}
