// Requests that tell a refusal of our own server from a silence, and from another server's answer. Knows no page.

export const STORE_HEADER = "Rulerank-Store";
const PATIENCE = 20_000; // milliseconds

// The server did not answer, or not sensibly, or it is another one: worth trying again.
export class Silence extends Error {}

// Our own server has said no, and why.
export class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

// Return ask(method, path, body, parameters, patience) for one rater and one label store.
export function connect({ rater = "", store = "", base = "" }) {
  return async function ask(method, path, body, parameters = {}, patience = PATIENCE) {
    const address = `${base}${path}?${new URLSearchParams({ rater, ...parameters })}`;
    const options = { method, signal: AbortSignal.timeout(patience), cache: "no-store", headers: { [STORE_HEADER]: store } };
    if (body !== undefined) {
      options.headers["Content-Type"] = "application/json";
      options.body = JSON.stringify(body);
    }
    let response, answer;
    try {
      response = await fetch(address, options);
      answer = await response.json();
    } catch {
      throw new Silence("The server does not answer");
    }
    const { code, message } = answer?.error ?? {};
    if (code === "other_store") throw new Silence("Another label store is served at this address now; reload the page to judge there");
    if ([401, 403].includes(response.status) && code !== "lead_only") throw new Silence("The server does not know this browser any more");
    if (response.headers.get(STORE_HEADER) !== store) throw new Silence("Another server answers at this address");
    if (response.status >= 500) throw new Silence("The server is in trouble");
    if (!response.ok) throw new Refusal(response.status, code, message ?? "no reason given");
    return answer;
  };
}
