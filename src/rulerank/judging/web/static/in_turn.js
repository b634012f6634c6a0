// Keys pressed while an undo is under way are meant for the document that it brings back: they wait for it. Knows no page.

export class Turns {
  #held = [];

  // isUndoing: an undo is kept and not yet answered; isAsking: somebody waits for the answer now; refuse: say that nobody does.
  constructor(isUndoing, isAsking, refuse) {
    Object.assign(this, { isUndoing, isAsking, refuse });
  }

  // Return the action as it is to be called: at once, or behind the undo.
  takes(action) {
    return (event) => {
      if (!this.isUndoing()) action(event);
      else if (this.isAsking()) this.#held.push(() => action(event));
      else this.refuse();
    };
  }

  // The undo was answered: do what was held, up to the next undo.
  go() {
    while (this.#held.length && !this.isUndoing()) this.#held.shift()();
  }

  // Nobody answers: what the keys would grade is not known.
  stop() {
    if (!this.isUndoing()) return;
    this.#held = [];
    this.refuse();
  }
}
