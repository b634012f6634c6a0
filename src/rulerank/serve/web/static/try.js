// Two rankings of a query side by side, with rank changes and explanations.

import { byId, element, show } from "/shared/dom.js";
import { summed, units } from "/static/sums.js";

const main = byId("main");
const texts = main.dataset.texts === "true";
const TOP = 10;
let asked = null; // the current request, for /explain
let latest = 0; // answers to earlier requests are ignored

class Refused extends Error {}

async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  let response, answer;
  try {
    response = await fetch(path, { ...options, signal: AbortSignal.timeout(30_000), cache: "no-store" });
    answer = await response.json();
  } catch {
    throw new Refused("The service does not answer. Is it still running?");
  }
  if (!response.ok) throw new Refused(answer?.error?.message ?? `The service answered ${response.status}.`);
  return answer;
}

function movedFrom(result) {
  const by = (result.baseline_rank ?? result.rank) - result.rank;
  const [kind, text, words] =
    by > 0 ? ["up", `▲ ${by}`, `up ${by} from ${result.baseline_rank}`]
    : by < 0 ? ["down", `▼ ${-by}`, `down ${-by} from ${result.baseline_rank}`]
    : ["", "=", "same rank as in the baseline"];
  return element("span", { class: `moved ${kind}`, title: words },
    element("span", { "aria-hidden": "true" }, text), element("span", { class: "unseen" }, words));
}

function nameOf(result) {
  const named = element("span", { class: "name" }, element("b", {}, result.title || result.id));
  if (result.text) named.append(element("span", { class: "snippet" }, result.text));
  return named;
}

function reasonList(result) {
  const strongest = (result.reasons ?? []).filter((reason) => reason.feature !== null);
  if (!strongest.length) return null;
  const rest = strongest.reduce((left, reason) => left - reason.adds, result.score);
  const others = result.reasons.slice(1).find((reason) => reason.feature === null);
  const parts = [...strongest, { adds: rest, text: others ? `base and ${others.text.replace(" together", "")}` : "base" }];
  const numbers = summed(parts.map((part) => part.adds), units(result.score, 3), 3);
  const lines = parts.map((part, place) => element("li", { title: part.feature ?? "" }, element("b", {}, numbers[place]), ` ${part.text}`));
  return element("ul", { class: "reasons" }, ...lines);
}

function drawModel(results) {
  byId("model").replaceChildren(...results.map((result, place) => {
    const below = results[place + 1];
    const button = element("button", { type: "button", class: "result", "data-id": result.id },
      element("span", { class: "place" }, String(result.rank)), nameOf(result), movedFrom(result), reasonList(result));
    button.addEventListener("click", () => explain(result, below));
    return element("li", {}, button);
  }));
}

function drawBaseline(results) {
  byId("baseline").replaceChildren(...results.map((result) => element("li", {},
    element("div", { class: "result plain" },
      element("span", { class: "place" }, String(result.baseline_rank)), nameOf(result),
      element("span", { class: "moved" }, `now ${result.rank}`)))));
}

function draw(answer) {
  drawModel(answer.results);
  drawBaseline(answer.baseline ?? [...answer.results].sort((a, b) => a.baseline_rank - b.baseline_rank));
  const moved = answer.results.filter((result) => result.rank !== result.baseline_rank).length;
  byId("version").textContent = `model ${answer.version}`;
  byId("summary").textContent = answer.results.length
    ? `${moved} of the top ${answer.results.length} changed rank versus the baseline; ${answer.n_docs} documents were ranked.`
    : "No document of the index matches the query.";
  showLists(answer.results.length > 0);
}

function showLists(some) {
  show(byId("rankings"), some);
  show(byId("lists"), some);
}

function chooseList(event) {
  const chosen = event.target.dataset.list;
  if (!chosen) return;
  byId("rankings").dataset.list = chosen;
  for (const button of byId("lists").children) button.setAttribute("aria-pressed", String(button.dataset.list === chosen));
}

function complain(message) {
  byId("problem").textContent = message;
  show(byId("problem"), message !== "");
}

async function rank(event) {
  event?.preventDefault();
  const number = ++latest;
  main.dataset.state = "asking";
  complain("");
  try {
    let answer;
    if (texts) {
      const query = byId("query").value.trim();
      if (!query) return;
      history.replaceState(null, "", `?${new URLSearchParams({ q: query })}`);
      answer = await ask(`/search?${new URLSearchParams({ q: query, top: TOP, reasons: "true" })}`);
      asked = { query };
    } else {
      let body;
      try {
        body = JSON.parse(byId("body").value);
      } catch (error) {
        throw new Refused(`This is not JSON: ${error.message}`);
      }
      answer = await ask("/rank", { ...body, reasons: true, top: body.top ?? Math.max(1, body.documents?.length ?? 1) });
      const { query, documents } = body;
      asked = query === undefined ? { documents } : { query, documents };
    }
    if (number !== latest) return;
    draw(answer);
  } catch (error) {
    if (number !== latest) return;
    if (!(error instanceof Refused)) throw error;
    showLists(false);
    byId("summary").textContent = "";
    complain(error.message);
  } finally {
    if (number === latest) main.dataset.state = "ready";
  }
}

async function explain(result, below, versus) {
  const dialog = byId("why");
  byId("why-head").textContent = result.title || result.id;
  byId("why-text").replaceChildren(element("p", { class: "quiet" }, "…"));
  const other = byId("why-other");
  show(other, Boolean(below) && versus === undefined);
  other.onclick = () => explain(result, below, below.id);
  if (!dialog.open) dialog.showModal();
  try {
    const answer = await ask("/explain", { ...asked, doc: result.id, ...(versus === undefined ? {} : { versus }) });
    byId("why-text").replaceChildren(...explained(answer));
    dialog.dataset.state = "ready";
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    byId("why-text").replaceChildren(element("p", { class: "notice bad" }, error.message));
  }
}

function explained(answer) {
  const [first, ...lines] = answer.lines;
  const lead = element("p", { class: "first" }, first);
  const why = answer.explanation;
  const start = why.kind === "versus" ? { name: "", adds: why.base_difference, value: "base" }
    : { name: "", adds: why.base, value: why.base_text };
  const parts = [start, ...(why.features ?? [])].filter((part) => part.adds !== 0);
  if (!parts.length) return [lead, element("ul", {}, ...lines.map((line) => element("li", {}, line)))];
  const inUnits = (score) => units(score, answer.digits); // as in the first line
  const total = why.kind === "versus" ? inUnits(why.high.score) - inUnits(why.low.score) : inUnits(why.score);
  const numbers = summed(parts.map((part) => part.adds), total, answer.digits);
  const largest = Math.max(...parts.map((part) => Math.abs(part.adds)));
  const rows = parts.map((part, place) => {
    const bar = element("span", { class: part.adds < 0 ? "bar down" : "bar" });
    bar.style.width = `${(100 * Math.abs(part.adds)) / largest}%`; // set by script: the content security policy forbids styles in markup
    const words = part.value === undefined ? `${part.high_value} versus ${part.low_value}`
      : [part.value, part.standing].filter(Boolean).join(", ");
    return element("tr", {}, element("td", { class: "number" }, numbers[place]), element("td", { class: "bar-cell" }, bar),
      element("td", {}, element("b", { title: part.feature ?? "" }, part.name), ` ${words}`));
  });
  return [lead, element("div", { class: "scroll" }, element("table", {}, element("tbody", {}, ...rows)))];
}

function step(by) {
  const buttons = [...document.querySelectorAll("#model .result")];
  const here = buttons.indexOf(document.activeElement);
  const next = here < 0 ? (by > 0 ? 0 : -1) : here + by;
  if (buttons[next]) buttons[next].focus();
  else if (next < 0 && texts) byId("query").focus();
}

document.addEventListener("keydown", (event) => {
  if (byId("why").open || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "TEXTAREA") return;
  const typing = event.target.tagName === "INPUT";
  if (event.key === "/" && !typing && texts) {
    event.preventDefault();
    byId("query").select();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    step(event.key === "ArrowDown" ? 1 : -1);
  }
});
byId("ask").addEventListener("submit", rank);
byId("lists").addEventListener("click", chooseList);
byId("why-close").addEventListener("click", () => byId("why").close());
const first = new URLSearchParams(location.search).get("q");
if (texts && first) {
  byId("query").value = first.slice(0, 1000);
  rank();
}
