// What the ranker had expected, shown only once the grade is given.

import { ask, byId, element, rater, show } from "./page.js";

const panel = byId("result");

let shown = null; // the label whose result is on screen

export async function showResult({ label, task }) {
  const name = task?.title || task?.doc || label.doc;
  const given = label.grade === null ? "cannot judge" : `grade ${label.grade}`;
  const badge = element("span", { class: "grade" }, label.grade === null ? "x" : String(label.grade));
  panel.replaceChildren(
    element("h2", {}, "Saved"),
    element("p", {}, badge, ` ${given} for `, element("b", {}, name), ". ", reviseLink(label)),
  );
  show(panel);
  shown = label.id;
  const { query, doc } = label;
  try {
    const { estimate } = await ask("GET", "/api/estimate", undefined, { query, doc });
    if (shown === label.id) panel.append(...(estimate ? estimateParts(estimate) : [tooEarly()]));
  } catch {
    // it would be nice to know, and is not needed
  }
}

export function showText(title, text) {
  shown = null;
  panel.replaceChildren(element("h2", {}, title), element("p", {}, text));
  show(panel);
}

function estimateParts({ grade, rank, n_docs, reasons, n_labels }) {
  const sentence = element("p", {}, "The ranker had expected ", element("b", {}, grade.toFixed(1)));
  sentence.append(`, place ${rank} of ${n_docs}, after ${n_labels} ${n_labels === 1 ? "label" : "labels"}.`);
  if (!reasons.length) return [sentence];
  const items = reasons.map((reason) => element("li", {}, reason));
  const why = element("details", {}, element("summary", { class: "quiet" }, "Why: the strongest reasons"), element("ul", { class: "rules" }, ...items));
  why.open = matchMedia("(min-width: 62rem)").matches; // below that it lies above the document, and should be short
  return [sentence, why];
}

function tooEarly() {
  return element("p", { class: "quiet" }, "There are too few labels yet for the ranker to have an opinion.");
}

function reviseLink({ query, doc }) {
  return element("a", { href: `/?${new URLSearchParams({ rater, query, doc })}` }, "Revise");
}
