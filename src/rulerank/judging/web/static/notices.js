// Notices while the server does not answer, and retries.

import { Silence, byId, show } from "./page.js";

const PAUSES = [1000, 2000, 4000, 8000];
let pause = 0;
let timer = 0;

export function notify(text, canRetry = false) {
  byId("notice-text").textContent = text;
  show(byId("retry"), canRetry);
  show(byId("notice"));
}

// Show the problem, and call again after a pause or on request.
export function waitFor(problem, what, again) {
  const seconds = PAUSES[Math.min(pause, PAUSES.length - 1)] / 1000;
  const text = problem instanceof Silence ? problem.message : `The server refused it: ${problem.message}`;
  pause += 1;
  notify(`${text}. ${what}; next try in ${seconds} s.`, true);
  clearTimeout(timer);
  timer = setTimeout(again, seconds * 1000);
  byId("retry").onclick = () => {
    clearTimeout(timer);
    again();
  };
}

export function calm() {
  pause = 0;
  show(byId("notice"), false);
}
