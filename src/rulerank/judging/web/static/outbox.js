// A judgement leaves this device only when its own server has kept it; until then it is kept here. Knows no page.

import { Refusal } from "./wire.js";

const PENDING = "rulerank.outbox.";
const REFUSED = "rulerank.refused.";

// What our server says of a judgement that it will never take. Anything else may pass: the judgement is kept.
const FINAL = ["unknown_document", "bad_value", "missing_value", "not_possible", "bad_rater", "too_large", "malformed"];

export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // randomUUID is there only on secure connections
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// The judgements of one rater for one label store, in a storage that all tabs share and that outlives the page.
export class Outbox {
  constructor(storage, store, rater) {
    this.storage = storage;
    this.owner = JSON.stringify([store, rater]);
    this.rater = rater;
    this.unstored = new Map(); // storage is full or forbidden: the judgement lives as long as the page
  }

  // Keep what a key press says: a path of the API and what to send there.
  keep(path, body) {
    const pressed = Math.max(Date.now(), ...this.pending().map((one) => one.pressed + 1)); // the order, also if clocks jump
    const judgement = { path, body: { ...body, judgement: newId() }, pressed };
    this.#put(PENDING, judgement);
    return judgement;
  }

  // All that is to be sent, the oldest first, whichever tab has kept it.
  pending() {
    return this.#all(PENDING).sort((a, b) => a.pressed - b.pressed);
  }

  forget(judgement) {
    this.#drop(PENDING, judgement);
  }

  // What the server will never take stays here for the rater to see.
  refuse(judgement, reason) {
    this.#put(REFUSED, { ...judgement, reason });
    this.#drop(PENDING, judgement);
  }

  refused() {
    return this.#all(REFUSED).sort((a, b) => a.pressed - b.pressed);
  }

  dismiss(judgement) {
    this.#drop(REFUSED, judgement);
  }

  // What this rater has left for other stores: never sent to this one.
  elsewhere() {
    const ours = (name) => {
      try {
        const [key, rater] = JSON.parse(name.slice(PENDING.length));
        return key !== JSON.parse(this.owner)[0] && rater === this.rater;
      } catch {
        return name.startsWith(`${PENDING}${JSON.stringify(this.rater)}.`); // of the first version, which named no store
      }
    };
    return this.#names().filter((name) => name.startsWith(PENDING) && ours(name)).map((name) => this.#read(name)).filter(Boolean);
  }

  #key(kind, judgement) {
    return kind + JSON.stringify([...JSON.parse(this.owner), judgement.body.judgement]);
  }

  #all(kind) {
    const start = `${kind}${this.owner.slice(0, -1)},`;
    const names = new Set([...this.#names(), ...this.unstored.keys()].filter((name) => name.startsWith(start)));
    return [...names].map((name) => this.unstored.get(name) ?? this.#read(name)).filter(Boolean);
  }

  #names() {
    try {
      return Object.keys(this.storage);
    } catch {
      return [];
    }
  }

  #read(name) {
    try {
      return JSON.parse(this.storage.getItem(name));
    } catch {
      return null; // not ours
    }
  }

  #put(kind, judgement) {
    const name = this.#key(kind, judgement);
    try {
      this.storage.setItem(name, JSON.stringify(judgement));
    } catch {
      this.unstored.set(name, judgement);
    }
  }

  #drop(kind, judgement) {
    const name = this.#key(kind, judgement);
    this.unstored.delete(name);
    try {
      this.storage.removeItem(name);
    } catch {
      // nothing can be in it
    }
  }
}

// Send every pending judgement and return the last one taken with its answer; a silence is thrown, and all is kept.
export async function drain(outbox, send) {
  let last = null;
  for (let judgement; (judgement = outbox.pending()[0]); ) {
    try {
      const answer = await send(judgement);
      outbox.forget(judgement);
      last = { judgement, answer };
    } catch (problem) {
      if (!(problem instanceof Refusal) || !FINAL.includes(problem.code)) throw problem;
      outbox.refuse(judgement, problem.message);
    }
  }
  return last;
}

// Labels as the csv that `rulerank labels --import` reads.
export function asCsv(judgements, rater) {
  const cell = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const rows = judgements
    .filter(({ path, body }) => "grade" in body && path !== "/api/decisions") // a decision is no label
    .map(({ body, pressed }) => [body.query, body.doc, body.grade === null ? "" : String(body.grade), rater, new Date(pressed ?? 0).toISOString()]);
  return [["qid", "docid", "grade", "rater", "time"], ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("");
}
