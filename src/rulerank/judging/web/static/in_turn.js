// Keys pressed during an undo are meant for the document that it restores: they wait for it.

export class Turns {
  #held = [];

  // isUndoing: an undo is not answered yet; isAsking: a request is running; refuse: called if none is.
  constructor(isUndoing, isAsking, refuse) {
    Object.assign(this, { isUndoing, isAsking, refuse });
  }

  // Wrap an action: it runs at once, or after the undo.
  takes(action) {
    return (event) => {
      if (!this.isUndoing()) action(event);
      else if (this.isAsking()) this.#held.push(() => action(event));
      else this.refuse();
    };
  }

  // The undo was answered: run the waiting actions, up to the next undo.
  go() {
    while (this.#held.length && !this.isUndoing()) this.#held.shift()();
  }

  // No answer: it is unknown which document the keys would grade.
  stop() {
    if (!this.isUndoing()) return;
    this.#held = [];
    this.refuse();
  }
}
