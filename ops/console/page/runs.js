// Lists of runs, and the search.
import {each, get, later} from "./api.js";
import {clock, el, number, path, plain, runLink, short, state, table, time} from "./dom.js";
import {listen, live} from "./live.js";

export const wrongText = (failure) => el("p", {class: "wrong", role: "alert"}, plain(failure.whole ?? failure.message));

/** The same in a place; what stands there already is not read out again. */
export function wrongTell(place, failure) {
  if (place.textContent !== plain(failure.whole ?? failure.message)) place.replaceChildren(wrongText(failure));
}

const tags = (run) => run.tags.map((tag) => [el("a", {href: `#/runs?tag=${encodeURIComponent(tag)}`, class: "tag"}, short(tag, 30)), " "]);

function due(run) {
  if (run.state === "scheduled") return ["due ", time(run.at_ms)];
  if (run.state === "active") return [run.cancel_requested ? "asked to stop; " : "", "lease to ", time(run.at_ms)];
  return run.at_ms && run.state !== "waiting" ? ["kept to ", time(run.at_ms)] : "";
}

/** By these a run dies, and a retry by hand lets them begin anew; attempts are counted for ever. */
export const failures = (run) => `${number(run.failures + run.crashes)} of ${number(run.attempts_max)}`;

/** Of the text of its error; "" without one. */
export const firstLine = (run) => (run.error ?? "").split("\n", 1)[0];

/** The error of each; the store has none in its lists. Those that were read before stay what they are until a run goes on. */
export async function errorsRead(runs, signal, before = []) {
  const key = (run) => [run.id, run.state, run.attempt, run.failures, run.crashes, run.losses].join(" "), known = new Map(before.map((run) => [key(run), run.error]));
  runs.forEach((run) => { run.error = known.get(key(run)); });
  await each(runs.filter((run) => run.error === undefined), async (run) => {
    try { run.error = (await get(["runs", run.queue, run.id], {}, signal)).error; } catch (failure) { if (failure.name === "AbortError") throw failure; }
  });
}

const hasFailed = (run) => run.failures + run.crashes + run.losses > 0;

export function runTable(more = {}) {
  return table({
    caption: "Runs", key: (run) => run.id, empty: el("p", {}, more.empty ?? "No run is like that."),
    columns: [
      ...(more.first ?? []),
      {name: "Run", head: true, cell: runLink},
      ...(more.isQueue ? [] : [{name: "Queue", cell: (run) => el("a", {href: path("queue", run.queue)}, short(run.queue, 30))}]),
      {name: "Job", cell: (run) => short(run.job, 40)},
      {name: "State", cell: (run) => state(run.state)},
      {name: "Attempt", number: true, cell: (run) => number(run.attempt)},
      {name: "Failed", number: true, cell: failures},
      {name: "Enqueued", cell: (run) => time(run.created_at_ms)},
      {name: "Then", cell: (run) => [firstLine(run) ? el("div", {class: "why"}, short(firstLine(run), 100)) : "", due(run)].flat()},
      {name: "Tags", cell: tags},
    ],
  });
}

// ---- whether a list still is what there is

const STATES = ["scheduled", "waiting", "active", "done", "dead", "cancelled"], RENEW_MS = 3000;

/** How many runs of such a question there are by the newest reading, and a text that changes with them; null without a reading. Only queue and state are looked at. */
export function standing({queue, state: asked}) {
  const names = asked ? STATES.filter((name) => asked.split(",").includes(name)) : STATES;
  const its = live.queues?.filter((each) => !queue || each.queue === queue);
  if (!its) return null;
  const moves = (each, name) => [each[name], each.totals[name] ?? each.totals];
  return {count: its.reduce((sum, each) => sum + names.reduce((all, name) => all + each[name], 0), 0), mark: JSON.stringify(its.map((each) => names.map((name) => moves(each, name))))};
}

/**
 * Follows the readings for a list: where runs have moved since it was read and mayRenew(), it is read anew by renew(), at most each 3 s; else
 * `node` says that the list is old. begin() before it is read, its value to done(), with how many runs there are where the list has all.
 */
export function ageing(question, mayRenew, renew) {
  const isCounted = Object.entries(question).every(([name, value]) => !value || ["queue", "state"].includes(name));
  const node = el("span", {class: "note"});
  let mark, whole, at = 0;
  const look = () => {
    const now = standing(question);
    if (!at || !now || live.failure) return;
    mark ??= isCounted && whole !== null && whole !== now.count ? "" : now.mark;
    const isOld = mark !== now.mark, isRenewed = isOld && isCounted && mayRenew();
    const text = !isOld || isRenewed ? "" : `As of ${clock(at)}; ${isCounted ? `${number(now.count)} now.` : "runs have come or gone since."}`;
    if (node.textContent !== text) node.textContent = text;
    if (isRenewed && Date.now() - at > RENEW_MS) renew();
  };
  const end = listen(look);
  return {node, look, end, begin: () => standing(question)?.mark ?? null, done: (begun, all = null) => { mark = begun; whole = all; at = Date.now(); look(); }};
}

/** What is said where no run is found: what was typed into the search of the header may be a name. */
function none({error, ...others}) {
  if (!error) return "No run is like that. Ask for less: leave a field empty.";
  if (Object.values(others).some(Boolean)) return "No error has that text, of runs like that. Ask for less: leave a field empty.";
  const link = (name) => el("a", {href: `#/runs?${name}=${encodeURIComponent(error)}`}, `${name === "job" ? "of the job" : "with the tag"} `, short(error, 60));
  return ["No error has that text. Runs ", link("job"), ", or ", link("tag"), "?"];
}

/** So many pages, one after the other, by load(isNew). */
export async function pagesLoad(pages, load, hasMore) {
  await load(true);
  for (let at = 1; at < pages && hasMore(); at++) await load();
}

/** Pages of runs by a question, first as many as are asked for; more are added at the end. */
export function listing(question, {isQueue = false, pages: first = 1} = {}) {
  const control = new AbortController();
  const list = runTable({isQueue, empty: isQueue ? `No run is ${question.state}.` : none(question)});
  const status = el("p", {class: "note", role: "status"}, "Looking…");
  const wrong = el("div");
  const next = el("button", {type: "button", hidden: true, click: () => load()}, "Show more");
  const again = el("button", {type: "button", click: () => load(true)}, "Look again");
  let rows = [], cursor = null, isFurther = false, isBusy = false, turn = 0, pages = 1, timer;
  const age = ageing(question, () => !isFurther, () => isBusy || load(true, true));
  const node = el("div", {}, wrong, list, el("p", {class: "row"}, next, again, status, age.node));
  list.hidden = true;
  async function errorsShow(fresh, before) {
    try { await errorsRead(fresh.filter(hasFailed), control.signal, before); } catch { return; }
    list.update(rows);
  }
  async function load(isNew = false, isQuiet = false) {
    const own = ++turn, begun = isNew ? age.begin() : null;
    clearTimeout(timer);
    isBusy = true;
    if (!isQuiet) next.disabled = again.disabled = true;
    try {
      const page = await get(["runs"], {...question, limit: 50, cursor: isNew ? null : cursor}, control.signal);
      if (own !== turn) return;
      const before = rows, known = new Set(isNew ? [] : rows.map((run) => run.id));
      const fresh = page.runs.filter((run) => !known.has(run.id));
      rows = (isNew ? [] : rows).concat(fresh);
      cursor = page.next_cursor ?? null;
      isFurther = !isNew;
      pages = isNew ? 1 : pages + 1;
      list.hidden = rows.length === 0 && cursor !== null;
      errorsShow(fresh, before);
      list.update(rows);
      next.hidden = cursor === null;
      status.textContent = `${number(rows.length)} ${rows.length === 1 ? "run" : "runs"}${cursor ? " so far" : ""}`;
      wrong.replaceChildren();
      if (isNew) age.done(begun, cursor ? null : rows.length);
      else age.look();
    } catch (failure) {
      if (failure.name === "AbortError" || own !== turn) return;
      status.textContent = rows.length ? "what is shown is old" : "";
      wrongTell(wrong, failure);
      if (failure.isAway) timer = later(() => load(isNew), control.signal);
    }
    isBusy = next.disabled = again.disabled = false;
  }
  pagesLoad(first, load, () => cursor !== null && !control.signal.aborted);
  return {node, pages: () => pages, end: () => { control.abort(); age.end(); }};
}

const FIELDS = [
  ["queue", "Queue", "all"], ["job", "Job", "shop.send_email"], ["tag", "Tag", ""], ["error", "Text in the error", "timed out"],
  ["since", "Enqueued since", "2h, or 2026-11-30T09:30:00Z"], ["before", "and before", "10m"],
];
function form(query) {
  const chosen = (query.get("state") ?? "").split(",");
  const fields = FIELDS.map(([name, label, hint]) => el("div", {class: "field"}, el("label", {for: `f-${name}`}, label),
    el("input", {id: `f-${name}`, name, value: query.get(name) ?? "", placeholder: hint, maxlength: 500, autocomplete: "off", spellcheck: "false"})));
  const states = el("fieldset", {class: "states"}, el("legend", {}, "States"), STATES.map((name) => el("label", {},
    el("input", {type: "checkbox", name: "state", value: name, checked: chosen.includes(name)}), ` ${name}`)));
  return el("form", {class: "search", submit: (event) => {
    event.preventDefault();
    const data = new FormData(event.target), asked = new URLSearchParams();
    for (const [name] of FIELDS) if (data.get(name).trim()) asked.set(name, data.get(name).trim());
    if (data.getAll("state").length) asked.set("state", data.getAll("state").join(","));
    const hash = `#/runs?${asked}`;
    if (location.hash === hash) window.dispatchEvent(new HashChangeEvent("hashchange"));
    else location.hash = hash;
  }}, el("div", {class: "fields"}, fields), states, el("p", {class: "row"}, el("button", {class: "main"}, "Search"), el("a", {href: "#/runs"}, "All runs")));
}

export function search({query, pages}) {
  const names = [...FIELDS.map(([name]) => name), "state"];
  const question = Object.fromEntries(names.map((name) => [name, query.get(name)]));
  const runs = listing(question, {pages});
  return {title: "Runs", node: el("div", {}, el("h1", {}, "Runs"), form(query), runs.node), pages: runs.pages, end: runs.end};
}

/** The queue of a run whose id alone is known: each queue is asked. */
export async function runFind(id) {
  const {queues} = await get(["queues"]);
  for (const {queue} of queues) {
    try { return (await get(["runs", queue, id])).queue; } catch (failure) { if (failure.status !== 404) throw failure; }
  }
  return null;
}
