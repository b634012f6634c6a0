// What a page says while the server does not answer, and how often it tries again.

import { Silence, byId, show } from "./page.js";

const PAUSES = [1000, 2000, 4000, 8000];
let pause = 0;
let timer = 0;

export function notify(text, canRetry = false) {
  byId("notice-text").textContent = text;
  show(byId("retry"), canRetry);
  show(byId("notice"));
}

// Say what went wrong and what becomes of it, and call again after a while or when asked to.
export function waitFor(problem, what, again) {
  const seconds = PAUSES[Math.min(pause, PAUSES.length - 1)] / 1000;
  const said = problem instanceof Silence ? problem.message : `The server did not take it: ${problem.message}`;
  pause += 1;
  notify(`${said}. ${what}; next try in ${seconds} s.`, true);
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
