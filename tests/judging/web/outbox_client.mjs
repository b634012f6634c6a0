// Raters with two tabs each, on the page's own outbox and requests: they press, are cut off, come back and send again.
// Says "+" for each judgement that is taken; when stdin ends, drains all and prints every press in its order.

import { Outbox, drain } from "./outbox.js";
import { STORE_HEADER, connect } from "./wire.js";

class Storage { // as a browser's: the names are the keys, and all tabs share it
  getItem(name) { return this[name] ?? null; }
  setItem(name, text) { this[name] = String(text); }
  removeItem(name) { delete this[name]; }
}

const base = process.argv[2].replace(/\/$/, "");
const storage = new Storage();
const presses = [];
let over = false;
process.stdin.on("end", () => (over = true)).resume();

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

async function insist(work) {
  for (;;) {
    try {
      return await work();
    } catch (problem) {
      if (problem.name === "Refusal" || problem.code) throw problem;
      await pause(10);
    }
  }
}

async function tab(rater, store) {
  const ask = connect({ rater, store, base });
  const send = ({ path, body }) => ask("POST", path, body);
  while (!over) {
    const outbox = new Outbox(storage, store, rater); // a new page
    if (outbox.pending().length) await insist(() => drain(outbox, send));
    const { task } = await insist(() => ask("GET", "/api/next", undefined, { keep_going: "true" }));
    if (!task) break;
    const lot = Math.random();
    const { query, doc } = task;
    const [path, body] =
      lot < 0.1 ? ["/api/undo", {}] : lot < 0.2 ? ["/api/skip", { query, doc }] : ["/api/labels", { query, doc, grade: Math.floor(3 * Math.random()) }];
    const kept = outbox.keep(path, body);
    presses.push({ rater, path, ...kept.body });
    if (Math.random() < 0.1) {
      drain(outbox, send).catch(() => {}); // the page is closed while it is sending
      continue;
    }
    await insist(() => drain(outbox, send));
    process.stdout.write("+\n");
  }
}

const identity = await insist(async () => (await fetch(`${base}/api/overview`)).headers.get(STORE_HEADER));
const raters = ["ann", "ben", "cem"];
await Promise.all(raters.flatMap((rater) => [tab(rater, identity), tab(rater, identity)]));
for (const rater of raters) {
  const ask = connect({ rater, store: identity, base });
  await insist(() => drain(new Outbox(storage, identity, rater), ({ path, body }) => ask("POST", path, body)));
}
const refused = raters.flatMap((rater) => new Outbox(storage, identity, rater).refused());
process.stdout.write(JSON.stringify({ presses, refused, left: Object.keys(storage) }) + "\n");
process.exit(0);
