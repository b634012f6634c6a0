// The feature values of the document on screen, the most unusual first.

import { ask, byId, element, show } from "./page.js";

const panel = byId("features");
const button = byId("features-button");
let isOpen = false;
let shownFor = null;

export function toggleFeatures(task) {
  isOpen = !isOpen;
  button.setAttribute("aria-expanded", String(isOpen));
  button.querySelector(".label").textContent = isOpen ? "Hide features" : "Show features";
  show(panel, isOpen);
  return refreshFeatures(task);
}

export async function refreshFeatures(task) {
  const key = task && JSON.stringify([task.query, task.doc]);
  if (key !== shownFor) panel.replaceChildren();
  shownFor = key;
  if (!isOpen || !task || panel.childElementCount) return;
  try {
    const { features } = await ask("GET", "/api/features", undefined, { query: task.query, doc: task.doc });
    if (shownFor === key) panel.replaceChildren(tableOf(features));
  } catch (problem) {
    if (shownFor === key) panel.replaceChildren(element("p", { class: "quiet" }, `No features: ${problem.message}.`));
  }
}

const unusualness = (feature) => (feature.percentile === null ? -1 : Math.abs(feature.percentile - 50));

function tableOf(features) {
  const rows = [...features].sort((a, b) => unusualness(b) - unusualness(a)).map(rowOf);
  const head = [
    element("th", { scope: "col" }, "Feature"),
    element("th", { scope: "col", class: "number" }, "Value"),
    element("th", { scope: "col" }, "Among all documents"),
  ];
  return element("table", { class: "features" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
}

function rowOf({ name, value, percentile }) {
  const place = percentile === null ? "missing" : `above ${Math.floor(percentile)} %`;
  const cells = [
    element("th", { scope: "row" }, ...breakable(name)),
    element("td", { class: "number" }, value === null ? "–" : shortNumber(value)),
    element("td", { class: "place" }, element("div", {}, percentile === null ? null : dot(percentile), element("span", {}, place))),
  ];
  const isUnusual = percentile !== null && Math.abs(percentile - 50) >= 45;
  return element("tr", isUnusual ? { class: "unusual" } : {}, ...cells);
}

function dot(percentile) {
  const track = element("span", { class: "track", "aria-hidden": "true" });
  const mark = element("i");
  mark.style.left = `${percentile}%`; // a change by script, which the content security policy allows
  track.append(mark);
  return track;
}

// a long_name may break after its underscores
function breakable(name) {
  return name.split(/(?<=_)/).flatMap((part, place) => (place ? [element("wbr"), part] : [part]));
}

function shortNumber(value) {
  return Number(value.toPrecision(4)).toString();
}
