// The last label, next to the next document.

import { byId, element, rater, show } from "./page.js";

const panel = byId("result");

export function showResult({ label, task }) {
  const name = task?.title || task?.doc || label.doc;
  const given = label.grade === null ? "cannot judge" : `grade ${label.grade}`;
  const badge = element("span", { class: "grade" }, label.grade === null ? "x" : String(label.grade));
  const { query, doc } = label;
  const revise = element("a", { href: `/?${new URLSearchParams({ rater, query, doc })}` }, "Revise");
  panel.replaceChildren(
    element("h2", {}, "Saved"),
    element("p", {}, badge, ` ${given} for `, element("b", {}, name), ". ", revise),
  );
  show(panel);
}

export function showText(title, text) {
  panel.replaceChildren(element("h2", {}, title), element("p", {}, text));
  show(panel);
}
