// One run.
import {get, post} from "./api.js";
import {batchPath} from "./batch.js";
import {el, facts, focusKept, number, path, plain, say, short, state, sure, table, time} from "./dom.js";
import {failures, wrongTell} from "./runs.js";
import {mayOperate, mayRead} from "./session.js";

const LEVELS = ["", "error", "warning", "info", "debug"];

export const typeName = (field) => {
  const many = field.shape === "single" || !field.shape ? "" : field.shape === "array" ? `[${field.count}]` : field.count ? `[<=${field.count}]` : "[]";
  return `${(field.flags ?? []).includes("optional") ? "optional " : ""}${field.type ?? field.kind}${many}`;
};

const unit = (field) => ({duration: "in seconds", timestamp: "UTC", bytes: "as base64"}[field?.kind] ?? "");

function shown(value) {
  const text = plain(typeof value === "string" ? value : JSON.stringify(value, null, 1));
  const batch = typeof value === "string" && batchPath(value);
  if (batch && mayRead()) return el("a", {class: "id", href: batch}, value);
  return el("pre", {class: "value", tabindex: text.length > 300 ? 0 : null}, text === "" ? "(empty)" : text);
}

/** Values with what the schema says of them; `values` are by their names in the payload. */
function values(title, given, hidden, struct, none) {
  if (!given && !hidden) return none ? el("section", {}, el("h2", {}, title), el("p", {class: "note"}, none)) : "";
  const fields = struct?.fields ?? [];
  const named = new Map(fields.map((field) => [field.wire ?? field.name, field]));
  const rows = [...Object.entries(given ?? {}).map(([name, value]) => ({name, value, field: named.get(name)})),
    ...(hidden ?? []).map((name) => ({name, isHidden: true, field: named.get(name)}))];
  const list = table({
    caption: title, key: (row) => row.name, empty: el("p", {}, "There are none."),
    columns: [
      {name: "Name", head: true, cell: (row) => short(row.name, 60)},
      {name: "Value", cell: (row) => (row.isHidden ? el("em", {}, "hidden: it is secret or encrypted") : shown(row.value))},
      {name: "Type", cell: (row) => (row.field ? [el("code", {}, typeName(row.field)), " ", unit(row.field)] : "")},
      {name: "What it is", cell: (row) => (row.field?.doc ? short(row.field.doc, 300) : "")},
    ],
  });
  list.update(rows);
  return el("section", {}, el("h2", {}, title), list);
}

const ATTEMPTS = {active: "has it", done: "succeeded", dead: "failed for good", cancelled: "was cancelled"};

const isHeldBy = (run, limit) => limit.parked > 0 && limit.kind !== "fair" && (limit.kind === "needs" || limit.limit.startsWith(`${run.job}:`));

/** Why a run waits, as far as the store tells: its queue, and limits that hold runs of its job, or of any that needs something. */
async function waitsRead(run, signal) {
  if (run.state !== "waiting" || !mayRead()) return null;
  const its = await get(["queues", run.queue], {}, signal);
  const all = its.parked ? (await get(["limits"], {queue: run.queue}, signal)).queues.flatMap((each) => each.limits) : [];
  return {isPaused: its.paused, until: its.paused_until_ms, isServed: its.workers > 0, limits: all.filter((limit) => isHeldBy(run, limit)).map(({limit, parked}) => ({limit, parked}))};
}

function waits(run, why) {
  if (!why) return "";
  const told = [
    why.isPaused && ["its queue is paused", why.until ? [" until ", time(why.until)] : ""],
    !why.isServed && ["no worker serves its queue"],
    why.limits.length > 0 && ["maybe parked: ", why.limits.map(({limit, parked}, at) => [at ? ", " : "", el("a", {href: path("limit", run.queue, limit)}, short(limit, 80)), ` holds ${number(parked)}`])],
  ].filter(Boolean);
  return told.length ? el("ul", {class: "why", "aria-label": "Why it waits"}, told.map((each) => el("li", {}, each))) : "";
}

function about(run, holder) {
  return facts([
    ["state", state(run.state)],
    ["queue", mayRead() ? el("a", {href: path("queue", run.queue)}, short(run.queue, 64)) : short(run.queue, 64)],
    ["job", short(run.job, 80)],
    ["enqueued", time(run.created_at_ms)],
    run.state === "scheduled" && ["due", time(run.at_ms)],
    run.state === "active" && ["lease ends", time(run.at_ms)],
    run.state === "active" && mayRead() && ["holder", holder ? [short(holder.name, 60), ` on ${plain(holder.host)}, process ${holder.pid}`] : "no worker tells that it has it"],
    ["done", "dead", "cancelled"].includes(run.state) && ["kept until", time(run.at_ms)],
    ["attempt", `${number(run.attempt)}${ATTEMPTS[run.state] ? `, ${ATTEMPTS[run.state]}` : ""}`],
    ["failed and crashed", failures(run)], ["of these crashes", number(run.crashes)], ["lost workers", number(run.losses)],
    ["priority", String(run.priority)],
    run.expires_at_ms !== 0 && ["expires", time(run.expires_at_ms)],
    run.cancel_requested && ["asked to stop", "yes"],
    run.tags.length > 0 && ["tags", run.tags.map((tag) => [el(mayRead() ? "a" : "span", {class: "tag", href: mayRead() ? `#/runs?tag=${encodeURIComponent(tag)}` : null}, short(tag, 60)), " "]).flat()],
    ["schema", [el("code", {}, run.fingerprint), run.schema === undefined ? " (the store does not have it, so values are not shown)" : run.schema_is_own ? "" : " (the store has another version)"]],
  ]);
}

function progress(run) {
  if (run.progress < 0 && !run.progress_text) return "";
  return el("section", {}, el("h2", {}, "Progress"), el("p", {class: "row"},
    run.progress >= 0 ? [el("progress", {max: 100, value: run.progress, "aria-label": "Progress"}), ` ${run.progress} % `] : "", short(run.progress_text, 300)));
}

function failed(run) {
  if (!run.error) return "";
  const title = {dead: "Error", cancelled: "Last text of an attempt"}[run.state] ?? "Error of an earlier attempt";
  return el("section", {}, el("h2", {}, title), el("pre", {class: run.state === "cancelled" ? "value" : "error", tabindex: 0}, plain(run.error)));
}

function log(run) {
  const list = table({
    caption: "Log", key: (line) => line.key, empty: el("p", {}, "No line is kept. A job keeps as many as its schema says: keep log 20."),
    columns: [
      {name: "Time", cell: (line) => time(line.at_ms)}, {name: "Attempt", number: true, cell: (line) => String(line.attempt)},
      {name: "Level", cell: (line) => el("span", {class: `level ${LEVELS[line.level] ?? ""}`}, LEVELS[line.level] ?? String(line.level))},
      {name: "Text", cell: (line) => el("span", {class: "text"}, plain(line.text))},
    ],
  });
  list.update(run.log.map((line, at) => ({...line, key: at})));
  return el("section", {}, el("h2", {}, "Log"), list);
}

const VERBS = [
  ["retry", "Retry", ["dead"], "Put it back to waiting, with fresh attempts?"],
  ["cancel", "Cancel", ["scheduled", "waiting", "active"], "A run that waits ends at once; one at work is asked to stop."],
  ["delete", "Delete", ["done", "dead", "cancelled"], "It is forgotten, with its params, result and log. That cannot be undone."],
];

function actions(run, done) {
  if (!mayOperate()) return "";
  const wrong = el("span", {class: "wrong", role: "alert"});
  const buttons = VERBS.filter(([, , states]) => states.includes(run.state)).map(([verb, label, , text]) => el("button", {
    type: "button", class: verb === "delete" ? "danger" : null,
    click: async () => {
      if (verb !== "retry" && !await sure(`${label} this run?`, `${run.job} ${run.id}. ${text}`, `${label} the run`)) return;
      try {
        const now = await post(["runs", run.queue, run.id, verb]);
        say(now.state === "active" ? "It is asked to stop" : `${label}: done`);
        done(verb);
      } catch (failure) { wrong.textContent = failure.whole; }
    },
  }, label));
  return el("div", {class: "row"}, buttons, wrong);
}

async function holderOf(run, signal) {
  if (run.state !== "active" || !mayRead()) return null;
  const {workers} = await get(["workers"], {}, signal);
  return workers.find((worker) => worker.runs.some((each) => each.id === run.id));
}

export function run({parts: [queue, id]}) {
  const control = new AbortController();
  const body = el("div", {}, el("p", {}, "Looking…"));
  let timer, schema, was = "", isOver = false;
  async function schemaRead(found) {
    if (schema !== undefined || !found.schema) return;
    try { schema = await get(["schemas", found.queue, found.job], {fingerprint: found.schema}, control.signal); } catch { schema = null; }
  }
  function draw(found, holder, why) {
    focusKept(body, () => body.replaceChildren(actions(found, (verb) => (verb === "delete" ? (location.hash = path("queue", queue)) : load())), waits(found, why), about(found, holder), progress(found), failed(found),
      values("Params", found.param_values, found.params_hidden, schema?.params, found.state === "done" && found.schema ? "Params are not kept once a run has succeeded." : ""), values("Result", found.result_values, found.result_hidden, schema?.result), log(found)));
  }
  async function load() {
    clearTimeout(timer);
    try {
      const found = await get(["runs", queue, id], {}, control.signal);
      const holder = await holderOf(found, control.signal);
      const why = await waitsRead(found, control.signal);
      await schemaRead(found);
      const now = JSON.stringify([found, holder?.id, why]);
      if (now !== was) draw(found, holder, why);
      was = now;
      isOver = false;
      body.classList.remove("old");
    } catch (failure) {
      if (failure.name === "AbortError") return;
      isOver = failure.status === 404;
      if (isOver || was === "") wrongTell(body, failure);
      if (isOver) body.append(el("p", {}, "A run is forgotten some time after its end, as its schema says under keep."));
      if (!isOver) { body.classList.add("old"); was ||= ""; }
    }
    if (!isOver && !control.signal.aborted) timer = setTimeout(load, 2000);
  }
  load();
  const trail = mayRead() ? [el("a", {href: "#/"}, "Overview"), " / ", el("a", {href: path("queue", queue)}, short(queue, 40))] : el("a", {href: "#/enqueue"}, "Enqueue");
  const node = el("div", {}, el("p", {class: "trail"}, trail),
    el("h1", {class: "long"}, "Run ", el("span", {class: "id"}, short(id, 80))), body);
  return {title: `Run ${id}`, node, end: () => { control.abort(); clearTimeout(timer); }};
}
