// Limits of jobs: what they let begin, what they hold back, and other numbers for them.
import {get, later, post} from "./api.js";
import {asked} from "./asked.js";
import {clock, el, facts, number, path, plain, say, short, span, sure, table} from "./dom.js";
import {wrongTell} from "./runs.js";
import {mayOperate} from "./session.js";

const KINDS = {concurrency: "runs at the same time", rate: "runs that begin in a time", fair: "turns between keys", needs: "what a worker must have"};

/** The numbers of a limit, as 8 at a time, or 100 in 60 s, at most 10 at once. */
function numbers(kind, value) {
  if (!value.count) return "–";
  if (kind !== "rate") return `${number(value.count)} at a time`;
  return `${number(value.count)} in ${span(value.per_ms)}${value.burst ? `, at most ${number(value.burst)} at once` : ""}`;
}

const held = (count) => (count === 0 ? el("span", {class: "zero"}, "0") : el("span", {class: "state full"}, number(count)));
const force = (row) => [numbers(row.kind, row.in_force), row.keys > 1 && row.in_force.count ? " for each key" : "", row.is_set ? [" ", el("span", {class: "state paused"}, "set by hand")] : ""].flat();

export function limits({query}) {
  const queue = query.get("queue");
  const list = table({
    caption: "Limits", key: (row) => `${row.queue}\n${row.limit}`,
    empty: [el("p", {}, "No run with a limit has been enqueued."), el("p", {}, "A job has one by ", el("code", {}, "concurrency"), ", ", el("code", {}, "rate"), ", ", el("code", {}, "fair"), " or ", el("code", {}, "needs"), " in its schema.")],
    columns: [
      {name: "Limit", head: true, cell: (row) => el("a", {href: path("limit", row.queue, row.limit)}, short(row.limit, 80))},
      {name: "Queue", cell: (row) => el("a", {href: path("queue", row.queue)}, short(row.queue, 40))},
      {name: "Kind", cell: (row) => el("span", {title: KINDS[row.kind]}, row.kind)},
      {name: "In force", cell: force},
      {name: "Declared", cell: (row) => numbers(row.kind, row.declared)},
      {name: "Keys", number: true, cell: (row) => number(row.keys)},
      {name: "At work", number: true, cell: (row) => number(row.active)},
      {name: "Parked", number: true, cell: (row) => held(row.parked)},
    ],
  });
  const moving = asked((signal) => get(["limits"], {queue}, signal), list,
    ({queues}) => list.update(queues.flatMap(({queue: of, limits: its}) => its.map((row) => ({...row, queue: of})))));
  const node = el("div", {}, el("h1", {}, "Limits"), el("p", {class: "note"}, queue ? ["Of queue ", short(queue, 64), ". ", el("a", {href: "#/limits"}, "Of all"), ". "] : "", "What is parked waits until its limit has room for it."), moving.wrong, list);
  return {title: "Limits", node, end: moving.end};
}

// ---- one of them

/** The keys that it counts apart by, page by page. renew() reads the first page anew; where more are shown, it says of when they are. */
function keys(queue, name) {
  const control = new AbortController(), wrong = el("div"), of = el("span", {class: "note"});
  let rows = [], cursor = null, timer, isFurther = false, isBusy = false, turn = 0;
  const list = table({
    caption: "Keys", key: (row) => row.key, empty: el("p", {}, "No run with it waits or is at work."),
    columns: [
      {name: "Key", head: true, cell: (row) => (row.key ? short(row.key, 80) : el("em", {}, "all runs together"))},
      {name: "At work", number: true, cell: (row) => number(row.active)},
      {name: "Parked", number: true, cell: (row) => held(row.parked)},
      {name: "Next in", number: true, cell: (row) => (row.next_ms > 0 ? span(row.next_ms) : "–")},
    ],
  });
  const next = el("button", {type: "button", hidden: true, click: () => load(cursor)}, "Show more");
  const again = el("button", {type: "button", click: () => load(null)}, "Look again");
  list.hidden = true;
  async function load(from) {
    const own = ++turn;
    clearTimeout(timer);
    isBusy = true;
    try {
      const page = await get(["limits", queue, name, "keys"], {cursor: from}, control.signal);
      if (own !== turn) return;
      isFurther = from !== null;
      of.textContent = isFurther ? `As of ${clock(Date.now())}.` : "";
      rows = [...new Map([...(from === null ? [] : rows), ...page.keys].map((row) => [row.key, row])).values()];
      cursor = page.next_cursor ?? null;
      list.update(rows);
      list.hidden = false;
      next.hidden = cursor === null;
      wrong.replaceChildren();
    } catch (failure) {
      if (failure.name === "AbortError" || own !== turn) return;
      if (failure.isAway) { // else the limit itself is not found, which is told above
        wrongTell(wrong, failure);
        timer = later(() => load(from), control.signal);
      }
    }
    isBusy = false;
  }
  load(null);
  const node = el("section", {}, el("h2", {}, "Keys"), wrong, list, el("p", {class: "row"}, next, again, of));
  return {node, load: () => load(null), renew: () => isBusy || isFurther || load(null), end: () => control.abort()};
}

const FIELDS = [
  ["count", "Runs", "1 to 1000000"], ["per", "In a time of", "as 1s or 10m; empty: as it is"], ["burst", "At once after a rest", "empty: as it is"],
];

const isCount = (text) => /^\d{1,7}$/.test(text) && Number(text) >= 1 && Number(text) <= 1000000;
const isSpan = (text) => /^(\d+(\.\d+)?(w|d|h|m|s|ms|us|ns))+$/.test(text);
const WRONGS = {count: "a number, 1 to 1000000", per: "a time, as 1s, 10m or 1h30m", burst: "a number, 1 to 1000000"};

/** What will be in force, for the question; by `shown` where nothing is given. */
function numbersNext(shown, body) {
  if (shown.kind !== "rate") return `${number(body.count)} at a time`;
  const burst = body.burst ?? Math.min(shown.in_force.burst || body.count, body.count);
  return `${number(body.count)} in ${body.per ?? span(shown.in_force.per_ms)}, at most ${number(burst)} at once`;
}

/** Other numbers than those declared. update(limit). */
function form(queue, name, changed) {
  const wrong = el("p", {class: "wrong", role: "alert"});
  let shown = null;
  const inputs = FIELDS.map(([id, label, hint]) => {
    const input = el("input", {id: `l-${id}`, maxlength: 20, autocomplete: "off", inputmode: id === "per" ? null : "numeric", "aria-describedby": `d-${id}`});
    return {id, input, line: el("div", {class: "field"}, el("label", {for: `l-${id}`}, label), input, el("span", {class: "hint", id: `d-${id}`}, hint))};
  });
  const blame = (failure) => {
    const at = inputs.find((each) => each.id === failure.param), label = FIELDS.find(([id]) => id === failure.param)?.[1];
    const text = plain(failure.whole ?? failure.message), its = `${failure.param}:`;
    say("");
    wrong.textContent = label && text.startsWith(its) ? `${label}:${text.slice(its.length).replace(/,? at byte \d+ of the body/, "")}` : text;
    at?.input.setAttribute("aria-invalid", "true");
    at?.input.focus();
  };
  /** The body, or null where something is wrong, which is told. */
  const given = () => {
    const body = {};
    for (const {id, input, line} of inputs) {
      const text = line.hidden ? "" : input.value.trim();
      if (text === "" && id !== "count") continue;
      if (!(id === "per" ? isSpan : isCount)(text)) { blame({param: id, message: `${id}: ${WRONGS[id]}`}); return null; }
      body[id] = id === "per" ? text : Number(text);
    }
    return body;
  };
  const clear = () => {
    wrong.textContent = "";
    inputs.forEach(({input}) => input.removeAttribute("aria-invalid"));
  };
  const act = async (verb, body, title, text) => {
    clear();
    if (!await sure(title, text, verb === "set" ? "Set it" : "As declared")) return;
    try {
      await post(["limits", queue, name, verb], body);
      say(verb === "set" ? `${name} is set` : `${name} is as its job declares`);
      inputs.forEach(({input}) => { input.value = ""; });
      changed();
    } catch (failure) { blame(failure); }
  };
  const reset = el("button", {type: "button", click: () => act("reset", {}, "Take back what was set?", `${name} of queue ${queue}: what its job declares is in force again, ${numbers(shown.kind, shown.declared)}.`)}, "As declared");
  const node = el("form", {hidden: true, class: "limit", submit: (event) => {
    event.preventDefault();
    clear();
    const body = given();
    if (body) act("set", body, "Set this limit?", `${name} of queue ${queue}: ${numbersNext(shown, body)}, in place of ${numbers(shown.kind, shown.in_force)}, for each of its keys and whatever its job declares. Runs at work go on.`);
  }}, el("h2", {}, "Set it by hand"), el("div", {class: "fields"}, inputs.map((each) => each.line)), el("p", {class: "row"}, el("button", {class: "main"}, "Set"), reset), wrong);
  node.update = (limit) => {
    shown = limit;
    node.hidden = !["concurrency", "rate"].includes(limit.kind);
    inputs.slice(1).forEach(({line}) => { line.hidden = limit.kind !== "rate"; });
    reset.hidden = !limit.is_set;
  };
  return node;
}

export function limit({parts: [queue, name]}) {
  const about = el("div"), none = el("p", {class: "empty"}, "No run with such a limit has been enqueued in this queue."), found = el("div", {}, about), body = el("div", {}, none, found);
  const controls = mayOperate() ? form(queue, name, () => { moving.load(); its.load(); }) : el("p", {class: "note"}, "You may look, not change.");
  const its = keys(queue, name);
  found.append(controls, its.node);
  const moving = asked((signal) => get(["limits"], {queue}, signal), body, ({queues}) => {
    const row = queues.flatMap((each) => each.limits).find((each) => each.limit === name);
    none.hidden = Boolean(row);
    found.hidden = !row;
    if (!row) return;
    const now = facts([["kind", `${row.kind}: ${KINDS[row.kind] ?? "of a newer version"}`], ["in force", force(row)], ["declared", numbers(row.kind, row.declared)], ["keys", number(row.keys)], ["at work", number(row.active)], ["parked", held(row.parked)]]);
    if (!about.firstChild?.isEqualNode(now)) about.replaceChildren(now);
    controls.update?.(row);
    its.renew();
  });
  const node = el("div", {}, el("p", {class: "trail"}, el("a", {href: "#/limits"}, "Limits"), " / ", el("a", {href: path("queue", queue)}, short(queue, 40))), el("h1", {}, "Limit ", short(name, 80)), moving.wrong, body);
  return {title: `Limit ${name}`, node, end: () => { moving.end(); its.end(); }};
}
