// Putting cards in order: by keys, by buttons, or by dragging. What the order means is known elsewhere.

// Where a rater begins: with the order that was kept, else with the grades.
export function bestFirst({ docs, order }) {
  const value = ({ doc, judged, grade }) => (order ? -order.indexOf(doc) : judged && grade !== null ? grade : -1);
  return [...docs].sort((a, b) => value(b) - value(a));
}

// cards: the list of them; isOn: whether they can be moved; moved: called with a card when the order has changed.
export function makeOrdering(cards, { isOn, moved }) {
  let dragged = null;

  function shift(card, by) {
    const other = by < 0 ? card.previousElementSibling : card.nextElementSibling;
    if (!isOn() || !other) return;
    if (by < 0) other.before(card);
    else other.after(card);
    moved(card);
  }

  const cardAt = (event) => (event.target instanceof Element ? event.target.closest("#cards > li") : null);

  cards.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-move]") : null;
    if (!button) return;
    event.stopPropagation();
    shift(cardAt(event), Number(button.dataset.move));
    button.focus();
  });
  cards.addEventListener("dragstart", (event) => {
    dragged = isOn() ? cardAt(event) : null;
    if (!dragged) return event.preventDefault();
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", ""); // without which some browsers drag nothing
    dragged.classList.add("dragged");
  });
  cards.addEventListener("dragover", (event) => {
    const other = cardAt(event);
    if (!dragged) return;
    event.preventDefault();
    if (!other || other === dragged) return;
    const { top, height } = other.getBoundingClientRect();
    if (event.clientY < top + height / 2) other.before(dragged);
    else other.after(dragged);
  });
  cards.addEventListener("drop", (event) => dragged && event.preventDefault());
  cards.addEventListener("dragend", () => {
    if (!dragged) return;
    dragged.classList.remove("dragged");
    moved(dragged);
    dragged = null;
  });

  return { shift };
}
