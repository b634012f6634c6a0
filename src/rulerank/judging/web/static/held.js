// Judgements that cannot be sent: shown, so that they can be copied.

import { asCsv } from "./outbox.js";
import { byId, element, rater, show } from "./page.js";

const SHOWN = 5; // at most; the copy has them all

export function showHeld(outbox) {
  const refused = outbox.refused();
  fill("refused", refused, `The server refused ${counted(refused)}`, () => {
    for (const judgement of refused) outbox.dismiss(judgement);
    showHeld(outbox);
  });
  const elsewhere = outbox.elsewhere();
  fill("elsewhere", elsewhere, `${counted(elsewhere)} for another label store: stored on this device until that store is served here again`);
}

const counted = (judgements) => `${judgements.length} ${judgements.length === 1 ? "judgement" : "judgements"}`;

function fill(id, judgements, title, dismiss) {
  const panel = byId(id);
  show(panel, judgements.length > 0);
  panel.replaceChildren();
  if (!judgements.length) return;
  const items = judgements.slice(-SHOWN).map((one) => element("li", {}, sentence(one)));
  const text = element("textarea", { readonly: "", rows: "3", "aria-label": "Labels as csv" });
  text.value = asCsv(judgements, rater);
  const copy = element("button", { type: "button", class: "small" }, "Copy as csv");
  copy.addEventListener("click", () => {
    text.select();
    copy.textContent = document.execCommand("copy") ? "Copied" : "Press Ctrl+C to copy"; // the clipboard API needs https
  });
  const buttons = element("p", {}, copy);
  if (dismiss) {
    const forget = element("button", { type: "button", class: "small" }, "Dismiss");
    forget.addEventListener("click", dismiss);
    buttons.append(forget);
  }
  panel.append(element("h2", {}, title), element("ul", {}, ...items), text, buttons);
}

function sentence({ body, reason }) {
  const said = !("grade" in body) ? (body.doc ? "skip" : "undo") : body.grade === null ? "cannot judge" : `grade ${body.grade}`;
  const what = body.doc ? `${said} for ${body.doc} of ${body.query}` : said;
  return reason ? `${what}: ${reason}` : what;
}
