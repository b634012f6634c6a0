// Keeps judgements on this device until the server has stored them.

import { Refusal } from "./wire.js";

const PENDING = "rulerank.outbox.";
const REFUSED = "rulerank.refused.";

// Error codes of judgements that the server will never accept; after any other error the judgement is kept.
const FINAL = ["unknown_document", "bad_value", "missing_value", "not_possible", "bad_rater", "too_large", "malformed"];

export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // randomUUID needs https
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// The judgements of one rater for one label store, in a storage that all tabs share.
export class Outbox {
  constructor(storage, store, rater) {
    this.storage = storage;
    this.owner = JSON.stringify([store, rater]);
    this.rater = rater;
    this.unstored = new Map(); // if the storage is full or forbidden
  }

  // Store a judgement: a path of the API and the body to send.
  keep(path, body) {
    const pressed = Math.max(Date.now(), ...this.pending().map((one) => one.pressed + 1)); // the order, also if clocks jump
    const judgement = { path, body: { ...body, judgement: newId() }, pressed };
    this.#put(PENDING, judgement);
    return judgement;
  }

  // All judgements to send, oldest first, from all tabs.
  pending() {
    return this.#all(PENDING).sort((a, b) => a.pressed - b.pressed);
  }

  forget(judgement) {
    this.#drop(PENDING, judgement);
  }

  // Keep a refused judgement for the rater to see.
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

  // This rater's judgements for other stores: never sent to this one.
  elsewhere() {
    const ours = (name) => {
      try {
        const [key, rater] = JSON.parse(name.slice(PENDING.length));
        return key !== JSON.parse(this.owner)[0] && rater === this.rater;
      } catch {
        return name.startsWith(`${PENDING}${JSON.stringify(this.rater)}.`); // the first version had no store in the key
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
      // it is empty
    }
  }
}

// Send all pending judgements and return the last one with its answer; without an answer it throws and keeps them.
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
    .filter(({ path, body }) => "grade" in body && path !== "/api/decisions") // without decisions
    .map(({ body, pressed }) => [body.query, body.doc, body.grade === null ? "" : String(body.grade), rater, new Date(pressed ?? 0).toISOString()]);
  return [["qid", "docid", "grade", "rater", "time"], ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("");
}
