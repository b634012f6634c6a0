// Requests; distinguishes refusals of our server from no answer and from answers of another server.

export const STORE_HEADER = "Rulerank-Store";
const PATIENCE = 20_000; // milliseconds

// No answer, an invalid one, or one of another server: try again later.
export class Silence extends Error {}

// A refusal of our server, with the reason.
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
    if (code === "other_store") throw new Silence("Another label store is served at this address now; reload the page to use it");
    if ([401, 403].includes(response.status) && code !== "admin_only") throw new Silence("The server does not accept this browser any more; open your link again");
    if (response.headers.get(STORE_HEADER) !== store) throw new Silence("Another server answers at this address");
    if (response.status >= 500) throw new Silence("The server has a problem");
    if (!response.ok) throw new Refusal(response.status, code, message ?? "no reason given");
    return answer;
  };
}
