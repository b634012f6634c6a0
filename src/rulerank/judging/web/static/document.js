// A document as raters see it, on every page; its parts are elements with data-part.

import { highlighted, wordsOf } from "./highlight.js";
import { element, show } from "./page.js";

const SHORT = 90; // characters of a field that shares a line with others

// Fill title, address, fields and text; marks the words of the query and folds long texts.
export function fillDocument(node, task) {
  const part = (name) => node.querySelector(`[data-part=${name}]`);
  const words = wordsOf(task.query_text);
  part("title").replaceChildren(...highlighted(task.title || task.doc, words));
  part("text").replaceChildren(...highlighted(task.text ?? "", words));
  show(part("text"), Boolean(task.text));
  showAddress(part("url"), task.url);
  showFields(part("fields"), task.fields ?? [], words);
  fold(node, true);
}

// Fold or unfold long texts; the button is shown only if there are any.
export function fold(node, isFolded) {
  const button = node.querySelector("[data-part=more]");
  node.classList.toggle("folded", isFolded);
  const isCut = [...node.querySelectorAll("[data-part=text], .long")].some((text) => text.scrollHeight > text.clientHeight + 1);
  show(button, isCut || !isFolded);
  button.setAttribute("aria-expanded", String(!isFolded));
  button.querySelector(".label").textContent = isFolded ? "More" : "Less";
}

export function toggleFold(node) {
  if (!node.querySelector("[data-part=more]").hidden) fold(node, !node.classList.contains("folded"));
}

function showFields(list, fields, words) {
  show(list, fields.length > 0);
  const items = fields.map(({ name, text }) => {
    const isLong = text.length > SHORT;
    return element("div", isLong ? { class: "long" } : {}, element("dt", {}, name.replaceAll("_", " ")), element("dd", { dir: "auto" }, ...highlighted(text, words)));
  });
  list.replaceChildren(...items);
}

// Only web addresses become links: anything else, such as javascript:, stays text.
function showAddress(place, address) {
  show(place, Boolean(address));
  place.textContent = address ?? "";
  if (!/^https?:\/\//i.test(address ?? "")) return;
  place.replaceChildren(element("a", { target: "_blank", rel: "noopener noreferrer", href: address }, address));
}
