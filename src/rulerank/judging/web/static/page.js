// What every page needs: elements, and requests that tell a refusal from a silence.

export const byId = (id) => document.getElementById(id);
export const rater = document.body.dataset.rater ?? "";

// Everything that comes from data goes through here: text is set as text, never parsed as HTML.
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function show(node, isShown = true) {
  node.hidden = !isShown;
}

// The server did not answer, or not sensibly: worth trying again.
export class Silence extends Error {}

// The server has said no, and why.
export class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const PATIENCE = 20_000; // milliseconds

export async function ask(method, path, body, parameters = {}, patience = PATIENCE) {
  const address = `${path}?${new URLSearchParams({ rater, ...parameters })}`;
  const options = { method, signal: AbortSignal.timeout(patience), cache: "no-store" };
  if (body !== undefined) {
    options.headers = { "Content-Type": "application/json" };
    options.body = JSON.stringify(body);
  }
  let response, answer;
  try {
    response = await fetch(address, options);
    answer = await response.json();
  } catch {
    throw new Silence("The server does not answer");
  }
  if (response.status >= 500) throw new Silence("The server is in trouble");
  if ([401, 403].includes(response.status)) throw new Silence("The server does not know this browser any more");
  if (!response.ok) throw new Refusal(response.status, answer.error?.code, answer.error?.message ?? "no reason given");
  return answer;
}
