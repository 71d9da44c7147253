// Requests to /api/v1 beside this page, wherever a proxy has put it.

export class Failure extends Error {
  constructor(status, {code = "failed", message = "the server gives no answer", param, hint, run} = {}) {
    super(message);
    Object.assign(this, {status, code, param, hint, run});
  }
  get whole() { return ["store_away", "store_moved"].includes(this.code) ? `The store is away: ${this.message}` : this.hint ? `${this.message} (${this.hint})` : this.message; }
  get isAway() { return this.status === 0 || this.status === 503; }
}

const root = new URL("api/v1/", document.baseURI);
let asking = null;
let askToken = async () => null, tokenGiven = async () => {};

export const token = {
  get: () => { try { return sessionStorage.getItem("culex-token"); } catch { return token.held || null; } },
  set: (text) => { token.held = text; try { sessionStorage.setItem("culex-token", text); } catch { /* held here alone */ } },
  forget: () => { token.held = null; try { sessionStorage.removeItem("culex-token"); } catch { /* there is none */ } },
};

/** Who is called when the server wants a token; it resolves when there is one. given() before anything is asked with that. */
export function onToken(ask, given) { askToken = ask; tokenGiven = given; }

// JSON numbers of 64 bits do not fit a Number: they stay digits.
const WORD = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const isLong = (part) => /^-?\d{16,}$/.test(part);
export const parse = (text) => JSON.parse(text.replace(WORD, (part) => (isLong(part) ? `"${part}"` : part)));

/** Of a token that is none the server can say so: with letters beyond Latin-1 in a header, fetch fails as if there were no server. */
export function headers() {
  const held = token.get();
  return held ? {Authorization: `Bearer ${String.fromCharCode(...new TextEncoder().encode(held))}`} : {};
}

export function address(path, query = {}) {
  const url = new URL(path, root);
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== null && value !== "") url.searchParams.set(name, value);
  return url;
}

/** The failure that an answer tells. */
export async function failureOf(answer) {
  let told = {};
  try { told = (await answer.json()).error; } catch { told = {message: `the server answers ${answer.status}`}; }
  return new Failure(answer.status, told);
}

export async function tokenWanted(failure) {
  asking ??= askToken(failure).finally(() => { asking = null; }).then(tokenGiven);
  return asking;
}

async function send(path, options, query) {
  let answer;
  try {
    answer = await fetch(address(path, query), {...options, headers: {...options.headers, ...headers()}, cache: "no-store"});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0, {code: "no_server", message: "the server does not answer: is culex console still running?"});
  }
  if (answer.ok) return parse(await answer.text());
  const failure = await failureOf(answer);
  if (failure.status !== 401) throw failure;
  await tokenWanted(failure);
  return send(path, options, query);
}

const joined = (parts) => parts.map(encodeURIComponent).join("/");

export const get = (parts, query, signal) => send(joined(parts), {signal}, query);
export const post = (parts, body = {}) => send(joined(parts), {method: "POST", body: JSON.stringify(body), headers: {"Content-Type": "application/json"}});

/** Calls it after a while, unless what it is for has ended by then. */
export const later = (work, signal, ms = 3000) => setTimeout(() => signal.aborted || work(), ms);

/** Each of the items through `work`, a few at a time. */
export async function each(items, work, width = 6) {
  let at = 0;
  const worker = async () => { while (at < items.length) await work(items[at++]); };
  await Promise.all(Array.from({length: Math.min(width, items.length)}, worker));
}
