// Progress as text and bar.

import { byId, put } from "./page.js";

const GOOD_START = 100; // labels: ten documents each of ten queries

function progressParts({ mine, labelled, skipped, pool_size, closeness, stops, done }) {
  const parts = [`${mine} by you`, `${labelled} of ${pool_size} labelled`];
  if (skipped) parts.push(`${skipped} skipped`);
  const start = Math.min(GOOD_START, pool_size);
  if (done) parts.push("no documents left for you");
  else if (stops) parts.push(`${Math.floor(100 * closeness)} % until the sampler stops`);
  else if (labelled < start) parts.push(`aim for ${start} labels`);
  return { text: parts.join(" · "), value: done ? 1 : stops ? closeness : Math.min(1, labelled / start) };
}

export function showProgress(progress) {
  const { text, value } = progressParts(progress);
  put("progress-text", text);
  byId("progress-bar").value = value;
}
