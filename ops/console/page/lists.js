// Schemas: a list that comes whole and is asked for again every few seconds.
import {get, later} from "./api.js";
import {asked} from "./asked.js";
import {bytes, clock, el, number, path, plain, short, table, time} from "./dom.js";
import {typeName} from "./run.js";
import {wrongTell} from "./runs.js";
import {mayEnqueue} from "./session.js";

/** A page that asks again each 3 s, and when load() says so, keeping what it has while nobody answers. */
export function page(title, about, parts, node, take) {
  const moving = asked((signal) => get(parts, {}, signal), node, take);
  return {title, node: el("div", {}, el("h1", {}, title), el("p", {class: "note"}, about), moving.wrong, node), load: moving.load, end: moving.end};
}

const keyOf = (row) => `${row.queue}\n${row.job}\n${row.fingerprint}`;

export function schemas() {
  let counted = null, shown = [];
  const list = table({
    caption: "Schemas", key: keyOf,
    empty: el("p", {}, "The store has no schema. A worker tells those of its jobs when it starts."),
    columns: [
      {name: "Job", head: true, cell: (row) => el("a", {href: `${path("schema", row.queue, row.job)}?fingerprint=${row.fingerprint}`}, short(row.job, 60))},
      {name: "Queue", cell: (row) => el("a", {href: path("queue", row.queue)}, short(row.queue, 40))},
      {name: "Version", cell: (row) => [el("code", {}, row.fingerprint), row.versions > 1 ? (row.isNewest ? " newest" : " older") : ""]},
      {name: "Told last", cell: (row) => time(row.told_ms)},
      {name: "Size", number: true, cell: (row) => bytes(row.bytes)},
      {name: "To be executed", number: true, cell: (row) => (counted ? number(counted.get(keyOf(row))?.open ?? 0) : "–")},
      {name: "Dead", number: true, cell: (row) => (counted ? number(counted.get(keyOf(row))?.dead ?? 0) : "–")},
      {name: "Enqueue", cell: (row) => (mayEnqueue() && row.isNewest ? el("a", {href: `${path("enqueue", row.queue, row.job)}`, "aria-label": `Enqueue ${plain(row.job)}`}, "enqueue") : "")},
    ],
  });
  const take = ({schemas: of}) => {
    const counts = new Map();
    of.forEach((row) => { const key = `${row.queue}\n${row.job}`; row.isNewest = !counts.has(key); counts.set(key, (counts.get(key) ?? 0) + 1); });
    of.forEach((row) => { row.versions = counts.get(`${row.queue}\n${row.job}`); });
    list.update(shown = of);
  };
  // The server reads each run for that, of one queue at a time.
  const control = new AbortController(), told = el("span", {role: "status"}), wrong = el("div");
  const count = el("button", {type: "button", click: async () => {
    const found = new Map();
    count.disabled = true;
    wrong.replaceChildren();
    try {
      for (const queue of new Set(shown.map((row) => row.queue))) {
        told.textContent = `Counting in ${plain(queue)}…`;
        for (const row of (await get(["live"], {queue}, control.signal)).schemas) found.set(keyOf(row), {open: row.runs - row.dead, dead: row.dead});
      }
      counted = found;
      list.update(shown);
      told.textContent = `Counted at ${clock(Date.now())}`;
    } catch (failure) {
      if (failure.name === "AbortError") return;
      told.textContent = "";
      wrongTell(wrong, failure);
    }
    count.disabled = false;
  }}, "Count the runs of each version");
  const whole = page("Schemas", "What the store knows of the jobs: each version that some run or worker needs.", ["schemas"], list, take);
  list.before(el("p", {class: "row"}, count, told), wrong);
  return {...whole, end: () => { control.abort(); whole.end(); }};
}

function fields(title, struct) {
  if (!struct) return "";
  const list = table({
    caption: title, key: (field) => field.name, empty: el("p", {}, "There are none."),
    columns: [
      {name: "Name", head: true, cell: (field) => short(field.name, 60)}, {name: "Type", cell: (field) => el("code", {}, typeName(field))},
      {name: "Default", cell: (field) => (field.default !== undefined ? el("code", {}, short(field.default, 80)) : "")},
      {name: "Also", cell: (field) => (field.flags ?? []).filter((flag) => flag !== "optional").map((flag) => flag.replace("_", " ")).join(", ")},
      {name: "What it is", cell: (field) => short(field.doc ?? "", 300)},
    ],
  });
  list.update(struct.fields ?? []);
  return el("section", {}, el("h2", {}, title), list);
}

export function schema({parts: [queue, job], query}) {
  const control = new AbortController(), body = el("div", {}, el("p", {}, "Looking…"));
  const load = () => get(["schemas", queue, job], {fingerprint: query.get("fingerprint")}, control.signal).then((of) => body.replaceChildren(
    of.doc ? el("p", {}, short(of.doc, 1000)) : "", fields("Params", of.params), fields("Result", of.result),
    ...(of.enums ?? []).map((each) => el("section", {}, el("h2", {}, "Enum ", short(each.name)), el("ul", {}, each.values.map((value) => el("li", {}, el("code", {}, value.name), value.doc ? [" ", short(value.doc, 200)] : ""))))),
    ...(of.structs ?? []).map((each) => fields(`Struct ${plain(each.name)}`, each)),
    el("details", {}, el("summary", {}, "All that the store has of it"), el("pre", {class: "value", tabindex: 0}, plain(JSON.stringify(of, null, 2))))),
  (failure) => {
    if (failure.name === "AbortError") return;
    wrongTell(body, failure);
    if (failure.isAway) later(load, control.signal);
  });
  load();
  const node = el("div", {}, el("p", {class: "trail"}, el("a", {href: "#/schemas"}, "Schemas")), el("div", {class: "head"}, el("h1", {}, "Job ", short(job, 80)),
    mayEnqueue() ? el("a", {class: "button", href: path("enqueue", queue, job)}, "Enqueue a run") : ""), body);
  return {title: `Job ${job}`, node, end: () => control.abort()};
}
