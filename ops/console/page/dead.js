// Dead letters: runs that failed for good, by their errors, and what is done to several of them.
import {each, get, later, post} from "./api.js";
import {el, number, path, plain, runLink, say, short, sure, table, time} from "./dom.js";
import {fold, foldLiteral, foldShown} from "./fold.js";
import {listen, live} from "./live.js";
import {ageing, errorsRead, firstLine, pagesLoad, standing, wrongTell, wrongText} from "./runs.js";
import {mayOperate} from "./session.js";

const PAGE = 100;

/** Without one: each queue that has dead runs, whether or not some of them are shown. */
async function queuesOf(queue, signal) {
  if (queue) return [queue];
  return (await get(["queues"], {}, signal)).queues.filter((each) => each.dead > 0).map((each) => each.queue);
}

/** One request after the other; the counts of all. A queue that never had the job has none of its runs. */
async function bulkOf(queue, body, sums, signal) {
  let cursor;
  do {
    let answer;
    try { answer = await post(["queues", queue, "bulk"], {...body, cursor}); } catch (failure) {
      if (failure.status === 400 && failure.param === "job") return;
      throw failure;
    }
    sums.matched += answer.matched;
    sums.done += answer.done;
    cursor = answer.next_cursor;
  } while (cursor && !signal.aborted);
}

/** Does it to all runs with an error, in one queue or in all. */
async function bulk({queue, since}, group, body, signal) {
  const sums = {matched: 0, done: 0}, its = {...body, states: "dead", job: group.job, error: group.part, since: since || undefined};
  for (const name of await queuesOf(queue, signal)) if (!signal.aborted) await bulkOf(name, its, sums, signal);
  return sums;
}

const cut = (text) => [...text].slice(0, 200).join("");

/** By job and error; those of a group differ in addresses, ids and numbers alone. `part` is the text that all of them have: "" where it says nothing. */
function groupsOf(runs) {
  const groups = new Map();
  for (const run of runs) {
    const text = run.error === undefined ? "(not read)" : firstLine(run) || "(no text)", folded = fold(text);
    const key = `${run.job}\n${folded}`;
    if (!groups.has(key)) groups.set(key, {key, job: run.job, line: text, part: run.error && firstLine(run) ? cut(text) : "", isOne: true, runs: []});
    const group = groups.get(key);
    if (group.line !== text && group.isOne) Object.assign(group, {line: foldShown(folded), part: group.part && cut(foldLiteral(folded)), isOne: false});
    group.runs.push(run);
  }
  return [...groups.values()].sort((one, other) => other.runs.length - one.runs.length);
}

const FIELDS = [["error", "Text in the error", "timed out"], ["since", "Enqueued since", "2h, or 2026-11-30T09:30:00Z"]];

/** Which dead runs are looked at. */
function form(query) {
  const fields = FIELDS.map(([name, label, hint]) => el("div", {class: "field"}, el("label", {for: `dead-${name}`}, label),
    el("input", {id: `dead-${name}`, name, value: query.get(name) ?? "", placeholder: hint, maxlength: 500, autocomplete: "off", spellcheck: "false"})));
  return el("form", {class: "search", submit: (event) => {
    event.preventDefault();
    const data = new FormData(event.target), asked = new URLSearchParams();
    if (query.get("queue")) asked.set("queue", query.get("queue"));
    for (const [name] of FIELDS) if (data.get(name).trim()) asked.set(name, data.get(name).trim());
    const hash = `#/dead${asked.size ? `?${asked}` : ""}`;
    if (location.hash === hash) window.dispatchEvent(new HashChangeEvent("hashchange"));
    else location.hash = hash;
  }}, el("div", {class: "fields"}, fields), el("p", {class: "row"}, el("button", {class: "main"}, "Search")));
}

/** Also a longer error may have the text: what is said is what is done. */
const retryLabel = (group) => (group.isOne ? "Retry all whose error has this text" : ["Retry all whose error has “", short(group.part, 60), "”"]);

export function dead({query, pages: first}) {
  const control = new AbortController(), chosen = new Set();
  const queue = query.get("queue"), since = query.get("since"), question = {queue, state: "dead", error: query.get("error"), since};
  const isNarrow = Boolean(question.error || since);
  let runs = [], cursor = null, isBusy = false, isFurther = false, isLoading = false, isRead = false, turn = 0, pages = 1, timer, acted = "";
  const status = el("p", {class: "note", role: "status"}, "Looking…"), wrong = el("div"), failed = el("div"), told = el("p", {role: "status"});
  const count = el("span", {role: "status"}, "");
  // Cells that look alike stay where they are, so that what they do goes by what is shown when it is done.
  const groupOf = (group) => groupsOf(runs).find((each) => each.key === group.key) ?? group;
  const box = (name, ids, idsNow = () => ids) => {
    const input = el("input", {type: "checkbox", "aria-label": `Choose ${plain(name).slice(0, 120)}`, change: () => {
      idsNow().forEach((id) => (input.checked ? chosen.add(id) : chosen.delete(id)));
      draw();
    }});
    const had = ids.filter((id) => chosen.has(id)).length;
    input.checked = had === ids.length;
    input.indeterminate = had > 0 && had < ids.length;
    input.toggleAttribute("checked", input.checked);
    return input;
  };
  const choice = mayOperate();
  const groups = table({
    caption: "By error", key: (group) => group.key,
    empty: [isNarrow ? el("p", {}, "No dead run is like that. Ask for less: leave a field empty.") : el("p", {}, "No run is dead. A run comes here when its last attempt has failed.")],
    columns: [
      ...(choice ? [{name: "Choose", class: "tight", cell: (group) => box(`all ${group.runs.length} of ${group.line}`, group.runs.map((run) => run.id), () => groupOf(group).runs.map((run) => run.id))}] : []),
      {name: "Error", head: true, cell: (group) => short(group.line, 120)},
      {name: "Job", cell: (group) => short(group.job, 40)},
      {name: "Runs", number: true, cell: (group) => number(group.runs.length)},
      ...(choice ? [{name: "All", cell: (group) => (group.part && (!group.isOne || cursor || isFurther) ? el("button", {type: "button", "aria-label": `Retry all whose error has the text ${plain(group.part).slice(0, 120)}`, click: () => retryAll(groupOf(group))}, retryLabel(group)) : "")}] : []),
    ],
  });
  const list = table({
    caption: "Dead runs", key: (run) => run.id, empty: "",
    columns: [
      ...(choice ? [{name: "Choose", class: "tight", cell: (run) => box(`run ${run.id}`, [run.id])}] : []),
      {name: "Run", head: true, cell: runLink},
      {name: "Queue", cell: (run) => el("a", {href: path("queue", run.queue)}, short(run.queue, 30))},
      {name: "Job", cell: (run) => short(run.job, 40)},
      {name: "Error", cell: (run) => short(firstLine(run), 100)},
      {name: "Enqueued", cell: (run) => time(run.created_at_ms)},
    ],
  });
  const act = async (verb, label, text) => {
    const picked = runs.filter((run) => chosen.has(run.id));
    if (!picked.length) { say("No run is chosen"); return; }
    if (!await sure(`${label} ${number(picked.length)} ${picked.length === 1 ? "run" : "runs"}?`, text, `${label} ${number(picked.length)}`)) return;
    const failures = [];
    isBusy = true;
    draw();
    await each(picked, async (run) => {
      try { await post(["runs", run.queue, run.id, verb]); } catch (failure) { failures.push(failure); }
    });
    chosen.clear();
    acted = `${label}: ${number(picked.length - failures.length)} of ${number(picked.length)} done.`;
    say(acted);
    await actDone(failures.length ? {message: `${number(failures.length)} of ${number(picked.length)} failed: ${failures[0].whole}`} : null);
  };
  /** What failed stays until something else is done, whatever reading the list anew comes to. */
  const actDone = async (failure) => {
    isBusy = false;
    failed.replaceChildren(failure ? wrongText(failure) : "");
    draw();
    tell();
    await load(true);
  };
  const retryAll = async (group) => {
    if (isBusy) return;
    isBusy = true;
    let wrongs = null;
    try {
      const {matched} = await bulk(question, group, {action: "retry", dry: true}, control.signal);
      const text = `All dead runs of ${group.job} in ${queue ? `queue ${queue}` : "all queues"}${since ? `, enqueued since ${since},` : ""} whose error has this text, also those that are not shown: “${group.part}”. They are put back to waiting, with fresh attempts.`;
      if (await sure(`Retry ${number(matched)} ${matched === 1 ? "run" : "runs"}?`, text, `Retry ${number(matched)}`)) {
        count.textContent = "at work…";
        const sums = await bulk(question, group, {action: "retry"}, control.signal);
        acted = `Retry: ${number(sums.done)} of ${number(sums.matched)} done.`;
        say(acted);
        chosen.clear();
      }
    } catch (failure) { wrongs = failure; }
    if (!control.signal.aborted) await actDone(wrongs);
  };
  const retry = el("button", {type: "button", click: () => act("retry", "Retry", "They are put back to waiting, with fresh attempts.")}, "Retry");
  const remove = el("button", {type: "button", class: "danger", click: () => act("delete", "Delete", "They are forgotten, with their params and logs. That cannot be undone.")}, "Delete");
  const all = el("button", {type: "button", click: () => { const isAll = runs.every((run) => chosen.has(run.id)); runs.forEach((run) => (isAll ? chosen.delete(run.id) : chosen.add(run.id))); draw(); }}, "Choose all shown");
  const bar = el("div", {class: "row bar"}, all, retry, remove, count);
  const next = el("button", {type: "button", hidden: true, click: () => load()}, `Show ${PAGE} more`);
  const again = el("button", {type: "button", click: () => load(true)}, "Look again");
  const age = ageing(question, () => !isFurther && !isBusy && !chosen.size, () => isLoading || load(true));
  const title = el("h2", {}, "Each run");
  function draw() {
    groups.update(groupsOf(runs));
    list.update(runs);
    list.hidden = title.hidden = runs.length === 0;
    bar.hidden = !choice || runs.length === 0;
    retry.disabled = remove.disabled = isBusy || chosen.size === 0;
    count.textContent = isBusy ? "at work…" : `${number(chosen.size)} chosen`;
    next.hidden = cursor === null;
  }
  // Both change with the readings, too: what was retried may be dead again in a moment.
  function tell() {
    const now = standing({queue, state: "dead"})?.count;
    const isOfOne = queue || (live.queues ?? []).filter((each) => each.dead > 0).length < 2;
    const first = `${isOfOne ? "The newest " : ""}${number(runs.length)}${!isNarrow && now > runs.length ? ` of ${number(now)}` : ""} dead runs${isOfOne ? "" : ", queue after queue and the newest of each first"}`;
    const text = `${cursor ? first : `${number(runs.length)} dead ${runs.length === 1 ? "run" : "runs"}`}${isNarrow ? " like that" : ""}, grouped by their errors${cursor ? "; what is chosen is of these." : ""}`;
    const after = acted && now !== undefined && !live.failure ? `${acted} ${number(now)} ${queue ? `of ${plain(queue)} ` : ""}${now === 1 ? "is" : "are"} dead now.` : acted;
    if (isRead && status.textContent !== text) status.textContent = text;
    if (told.textContent !== after) told.textContent = after;
  }
  async function load(isNew = false) {
    const own = ++turn, begun = isNew ? age.begin() : null;
    clearTimeout(timer);
    isLoading = true;
    try {
      const page = await get(["runs"], {...question, order: "newest", limit: PAGE, cursor: isNew ? null : cursor}, control.signal);
      const known = new Set(isNew ? [] : runs.map((run) => run.id));
      const fresh = page.runs.filter((run) => !known.has(run.id));
      await errorsRead(fresh, control.signal, runs);
      if (own !== turn) return;
      runs = (isNew ? [] : runs).concat(fresh);
      cursor = page.next_cursor ?? null;
      isFurther = !isNew;
      pages = isNew ? 1 : pages + 1;
      const shown = new Set(runs.map((run) => run.id));
      chosen.forEach((id) => shown.has(id) || chosen.delete(id));
      wrong.replaceChildren();
      isRead = true;
      groups.hidden = false;
      draw();
      if (isNew) age.done(begun, cursor ? null : runs.length);
    } catch (failure) {
      if (failure.name === "AbortError" || own !== turn) return;
      isRead = false;
      status.textContent = runs.length ? "what is shown is old" : "";
      wrongTell(wrong, failure);
      if (failure.isAway) timer = later(() => load(isNew), control.signal);
    }
    isLoading = false;
    tell();
    age.look();
  }
  draw();
  groups.hidden = true;
  const end = listen(tell);
  pagesLoad(first, load, () => cursor !== null && !control.signal.aborted);
  const node = el("div", {}, el("h1", {}, "Dead letters"), queue ? el("p", {}, "Of queue ", short(queue, 64), ". ", el("a", {href: "#/dead"}, "Of all")) : "", form(query), status, wrong, failed, told, bar,
    el("h2", {}, "By error"), groups, title, list, el("p", {class: "row"}, next, again, age.node));
  return {title: "Dead letters", node, pages: () => pages, end: () => { control.abort(); age.end(); end(); }};
}
