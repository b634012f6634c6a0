// What a model of other queries' labels would move in a list that is judged: below the list, and on its cards.

import { byId, element, show } from "./page.js";

export function showMoves(moves, docs, cards) {
  const text = byId("moves-text");
  if (!moves) text.textContent = "Once other queries have labels too, a model of them is compared with today's order here.";
  else if (!moves.moves.length) text.textContent = `A model of the ${moves.n_labels} labels of other queries would leave the order of today nearly as it is.`;
  else text.textContent = `A model of the ${moves.n_labels} labels of other queries would move the marked documents most; it has not seen your grades of this list.`;
  const told = (moves?.moves ?? []).map(({ doc, title, rank, new_rank: to, reason }) => {
    const place = docs.findIndex((one) => one.doc === doc);
    if (place >= 0) {
      const line = cards.children[place].querySelector(".moved");
      line.textContent = `today ${rank}, by the model ${to}`;
      show(line);
    }
    return element("li", {}, element("b", {}, title || doc), ` from ${rank} to ${to}: ${reason}`);
  });
  byId("moves").replaceChildren(...told);
  show(byId("moves"), told.length > 0);
  byId("finished").scrollIntoView({ block: "nearest" });
}

export function forgetMoves(cards) {
  show(byId("finished"), false);
  for (const line of cards.querySelectorAll(".moved")) show(line, false);
}
