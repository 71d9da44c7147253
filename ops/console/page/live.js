// The queues' figures, once a second: by the server's stream, or by asking where that does not come.
import {address, Failure, failureOf, get, headers, parse, tokenWanted} from "./api.js";

const KEPT = 120, POLL_MS = 2000, HEALTH_MS = 5000, WAIT_MAX_MS = 15000, SILENCE_MS = 20000;

const listeners = new Set();
export const live = {queues: null, at: 0, failure: null, way: "connecting", ahead: 0, history: new Map()};

/** By the store's clock, as far as a reading has told it. */
export const storeNow = () => Date.now() + live.ahead;

const tell = () => listeners.forEach((listener) => listener(live));

/** Calls it now, if there is a reading, and with each that comes; returns what ends that. */
export function listen(listener) {
  listeners.add(listener);
  listener(live);
  return () => listeners.delete(listener);
}

function rates(queue, before) {
  const seconds = before ? (queue.now_ms - before.queue.now_ms) / 1000 : 0;
  const of = (name) => (seconds > 0 ? Math.max(0, (queue.totals[name] - before.queue.totals[name]) / seconds) : null);
  return {enqueued: of("enqueued"), done: of("done"), failed: seconds > 0 ? of("failed") + of("crashed") + of("lost") : null};
}

function note(queue) {
  const kept = live.history.get(queue.queue) || [];
  const before = kept.at(-1);
  if (before && before.queue.now_ms >= queue.now_ms) return;
  kept.push({queue, rates: rates(queue, before)});
  if (kept.length > KEPT) kept.shift();
  live.history.set(queue.queue, kept);
}

function take(reading) {
  live.queues = reading.queues;
  live.at = Date.now();
  live.failure = null;
  if (reading.queues.length) live.ahead = Math.max(...reading.queues.map((queue) => queue.now_ms)) - live.at;
  reading.queues.forEach(note);
  for (const name of live.history.keys()) if (!reading.queues.some((queue) => queue.queue === name)) live.history.delete(name);
  tell();
}

export function fail(failure) {
  live.failure = failure;
  tell();
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function event(text) {
  let name = "message", data = "";
  for (const line of text.split("\n")) {
    if (line.startsWith("event:")) name = line.slice(6).trim();
    else if (line.startsWith("data:")) data += line.slice(5).trim();
  }
  if (data === "") return;
  if (name === "queues") take(parse(data));
  else if (name === "failure") { const {error} = parse(data); fail(new Failure(503, error)); }
}

/** Reads the stream until it ends; EventSource could not send the token. */
async function follow(answer, control) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", timer;
  const heard = () => { clearTimeout(timer); timer = setTimeout(() => control.abort(), SILENCE_MS); };
  try {
    for (;;) {
      heard();
      const {value, done} = await reader.read();
      if (done) return;
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      parts.forEach(event);
    }
  } finally {
    clearTimeout(timer);
  }
}

// A page that nobody sees has no connection: a browser keeps six for one server, for all its tabs and for the pages behind its
// button "back" together, and one more would wait for ever.
let current = null, isLeft = false;
const seeing = new Set();

function look() {
  if (document.hidden || isLeft) current?.abort();
  else { seeing.forEach((go) => go()); seeing.clear(); }
}

addEventListener("pagehide", () => { isLeft = true; look(); });
addEventListener("pageshow", () => { isLeft = false; look(); });
document.addEventListener("visibilitychange", look);

const seen = () => (document.hidden || isLeft ? new Promise((resolve) => seeing.add(resolve)) : Promise.resolve());

async function stream() {
  const control = current = new AbortController();
  const answer = await fetch(address("stream"), {headers: headers(), cache: "no-store", signal: control.signal});
  if (!answer.ok) throw await failureOf(answer);
  live.way = "live";
  await follow(answer, control);
}

async function poll() {
  try {
    const reading = await get(["queues"]);
    live.way = "polling";
    take(reading);
  } catch (failure) {
    fail(failure);
  }
  await pause(POLL_MS);
}

/** For ever. While the stream does not come, it asks; and tries the stream again, less and less often. */
export async function begin() {
  let wait = 500;
  for (;;) {
    await seen();
    try {
      await stream();
      wait = 500;
    } catch (failure) {
      if (failure.status === 401) { await tokenWanted(failure); continue; }
    }
    const end = Date.now() + wait;
    do { await seen(); await poll(); } while (Date.now() < end);
    wait = Math.min(WAIT_MAX_MS, wait * 2);
  }
}

/** For ever, for whoever may not see the figures: whether the store is there. */
export async function watch() {
  for (;;) {
    await seen();
    try {
      await get(["health"]);
      live.way = "ready";
      live.failure = null;
      tell();
    } catch (failure) {
      fail(failure);
    }
    await pause(HEALTH_MS);
  }
}
