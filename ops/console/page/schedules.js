// Periodic jobs: when they run next, and how they are steered.
import {post} from "./api.js";
import {el, path, plain, say, short, span, sure, table, time} from "./dom.js";
import {page} from "./lists.js";
import {storeNow} from "./live.js";
import {mayOperate} from "./session.js";

const keyOf = (row) => `${row.queue}\n${row.schedule}`;
const linkTo = (queue, id) => el("a", {class: "id", href: path("run", queue, id)}, id);

/** What went wrong, with a link to the run that it is about, where there is one. */
function wrongOf(queue, {wrong, run}) {
  const [before, ...behind] = run ? plain(wrong).split(run) : [plain(wrong)];
  return el("div", {class: "wrong", role: "alert"}, before, behind.map((part) => [linkTo(queue, run), part]));
}

/** Of a deleted one: whether it comes back. */
const forgotten = (name, alive) => (alive ? `${name} is forgotten, but its queue has workers alive: one that has the job begins it anew at its next tick; pause it to stop it` : `${name} is forgotten`);
const SAID = {
  pause: (name) => `${name} is paused: its ticks pass without a run`, resume: (name) => `${name} goes on`,
  run: (name) => `A run of ${name} is enqueued`, delete: (name, {workers_alive: alive}) => forgotten(name, alive),
};

/** The buttons of a row, and below them what the last one came to. did(row, what) is told of it. A row's cell may be older than the row: only its names count. */
function controls(row, told, did) {
  const {queue, schedule: name} = row;
  const act = async (verb) => {
    if (verb === "delete" && !await sure("Delete this schedule?", `${name} of queue ${queue}: it is forgotten, with its pause. A worker that has the job begins it anew at its next tick; pause it to stop it.`, "Delete")) return;
    say("");
    try {
      const answer = await post(["schedules", queue, name, verb]);
      say(SAID[verb](name, answer));
      did(row, verb === "run" ? {run: answer.id} : null);
      if (verb === "delete") document.getElementById("main").focus({preventScroll: true}); // its button goes
    } catch (failure) { did(row, {wrong: failure.whole, run: failure.run}); }
  };
  const button = (verb, label, kind) => el("button", {type: "button", class: kind, "aria-label": `${label} ${plain(name)}`, click: () => act(verb)}, label);
  const text = told && (told.wrong ? wrongOf(queue, told) : el("div", {}, "Enqueued: ", linkTo(queue, told.run)));
  return [el("div", {class: "row"}, row.paused ? button("resume", "Resume") : button("pause", "Pause"), button("run", "Run now"), button("delete", "Delete", "danger")), text];
}

export function schedules() {
  const told = new Map();
  let shown = [];
  const did = (row, what) => {
    if (what) told.set(keyOf(row), what);
    else told.delete(keyOf(row));
    list.update(shown);
    view.load();
  };
  const list = table({
    caption: "Schedules", key: keyOf,
    empty: el("p", {}, "No job is periodic. One is by ", el("code", {}, "every 1h"), " or ", el("code", {}, "cron"), " in its schema, once a worker that has it has started."),
    columns: [
      {name: "Job", head: true, cell: (row) => short(row.schedule, 60)},
      {name: "Queue", cell: (row) => el("a", {href: path("queue", row.queue)}, short(row.queue, 40))},
      {name: "Next", cell: (row) => (row.next_ms ? [time(row.next_ms), row.next_ms > storeNow() ? ` in ${span(row.next_ms - storeNow())}` : " overdue"] : "no worker has told it")},
      {name: "Last", cell: (row) => (row.newest ? time(row.last_ms) : "no run yet")},
      {name: "Newest run", cell: (row) => (row.newest ? linkTo(row.queue, row.newest) : "–")},
      {name: "State", cell: (row) => (row.paused ? el("span", {class: "state paused"}, "paused") : el("span", {class: "state done"}, "on"))},
      ...(mayOperate() ? [{name: "Steer", class: "steer", cell: (row) => controls(row, told.get(keyOf(row)), did)}] : []),
    ],
  });
  const view = page("Schedules", `Periodic jobs, and when they run next.${mayOperate() ? " Run now enqueues what the next tick would; its ticks stay as they are." : ""}`, ["schedules"], list, ({queues}) => {
    shown = queues.flatMap(({queue, schedules: of}) => of.map((row) => ({...row, queue})));
    const there = new Set(shown.map(keyOf));
    for (const key of told.keys()) if (!there.has(key)) told.delete(key);
    list.update(shown);
  });
  return view;
}
