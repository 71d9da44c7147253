// The overview, and one queue.
import {post} from "./api.js";
import {chart} from "./chart.js";
import {el, facts, focusKept, number, path, plain, rate, say, short, span, table, time} from "./dom.js";
import {latency} from "./latency.js";
import {listen, live} from "./live.js";
import {listing} from "./runs.js";
import {mayEnqueue, mayOperate} from "./session.js";
import {figures} from "./spread.js";

const sum = (list, of) => list.reduce((all, each) => all + of(each), 0);
const last = (name) => live.history.get(name)?.at(-1);

const paused = (queue) => (!queue.paused ? null
  : el("span", {class: "state paused"}, "paused", queue.paused_until_ms ? [" until ", time(queue.paused_until_ms)] : ""));

const deadPath = (name) => `#/dead?queue=${encodeURIComponent(name)}`;

const count = (queue, state) => (queue[state] === 0 ? el("span", {class: "zero"}, "0")
  : el("a", {href: state === "dead" ? deadPath(queue.queue) : `#/runs?queue=${encodeURIComponent(queue.queue)}&state=${state}`, "aria-label": `${queue[state]} ${state} in ${queue.queue}`}, number(queue[state])));

const parked = (queue) => (queue.parked === 0 ? el("span", {class: "zero"}, "0")
  : el("a", {href: `#/limits?queue=${encodeURIComponent(queue.queue)}`, "aria-label": `${queue.parked} parked in ${queue.queue}`}, number(queue.parked)));

const workers = (queue) => (queue.workers === 0 && queue.waiting > 0 ? el("span", {class: "state full"}, "none") : number(queue.workers));

/** The readings of all queues, added up by their place from the end. */
function series(names, of) {
  const lists = names.map((name) => live.history.get(name) || []);
  const length = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({length}, (_, at) => sum(lists, (list) => of(list[list.length - length + at]) ?? 0));
}

/** Charts of some queues together; update(names). */
function charts() {
  const of = [
    ["Enqueued a second", "", (r) => r?.rates.enqueued, rate],
    ["Done a second", "is-good", (r) => r?.rates.done, rate],
    ["Failed a second", "is-bad", (r) => r?.rates.failed, rate],
    ["Waiting", "", (r) => r?.queue.waiting, (value) => number(Math.round(value))],
  ].map(([title, kind, value, text]) => ({node: chart(title, {kind}), value, text, isRate: text === rate}));
  const node = el("div", {class: "charts"}, of.map((each) => each.node));
  node.update = (names) => of.forEach((each) => {
    const all = series(names, each.value), values = each.isRate ? all.slice(1) : all;
    each.node.update(values, values.length ? each.text(values.at(-1)) : "–", each.text);
  });
  return node;
}

const sums = (queues) => facts([
  ...["waiting", "active", "scheduled", "dead"].map((state) => [state, number(sum(queues, (queue) => queue[state]))]),
  ["oldest waits", oldest(queues)],
]);

const isUnknown = (queue) => queue.waiting > 0 && queue.oldest_waiting_ms === undefined;
const unknown = () => el("span", {title: "Those looked at were begun before, and of such a run the store does not know since when it waits."}, "not known");

const age = (queue) => (isUnknown(queue) ? unknown() : queue.oldest_waiting_ms === undefined ? "–" : span(queue.oldest_waiting_ms));

/** Of all queues; where that of some is not known it may be more. */
function oldest(queues) {
  const ages = queues.map((queue) => queue.oldest_waiting_ms).filter((each) => each !== undefined);
  if (!queues.some(isUnknown)) return ages.length ? span(Math.max(...ages)) : "–";
  return ages.length ? el("span", {title: "Of some queues it is not known."}, `${span(Math.max(...ages))} or more`) : unknown();
}

/** What stands there until there is a reading. The banner is what is read out. */
function unread() {
  const text = el("p", {}, "Looking…"), node = el("div", {}, text);
  node.update = ({queues, failure}) => {
    const told = failure ? `${plain(failure.whole)}. What there is comes by itself, once there is an answer.` : "Looking…";
    node.hidden = Boolean(queues);
    text.className = failure ? "wrong" : "";
    if (text.textContent !== told) text.textContent = told;
  };
  return node;
}

export function overview() {
  const summary = el("section", {class: "figures", "aria-label": "All queues together"});
  const moving = charts();
  const list = table({
    caption: "Queues", key: (queue) => queue.queue,
    empty: [el("p", {}, "There is no queue yet. One begins with its first run or its first worker."),
      el("p", {}, "Start a worker, or enqueue a run from a program or with ", el("code", {}, "culex enqueue"), ".")],
    columns: [
      {name: "Queue", head: true, cell: (q) => [el("a", {href: path("queue", q.queue)}, short(q.queue, 40)), " ", paused(q), q.is_full ? el("span", {class: "state full"}, "full") : ""]},
      ...["waiting", "active", "scheduled", "done", "dead"].map((name) => ({name, number: true, cell: (q) => count(q, name)})),
      {name: "parked", number: true, cell: parked},
      {name: "oldest waits", number: true, cell: age},
      {name: "in / s", number: true, cell: (q) => rate(last(q.queue)?.rates.enqueued)},
      {name: "done / s", number: true, cell: (q) => rate(last(q.queue)?.rates.done)},
      {name: "failed / s", number: true, cell: (q) => rate(last(q.queue)?.rates.failed)},
      {name: "failed, ever", number: true, cell: (q) => number(q.totals.failed + q.totals.crashed + q.totals.lost)},
      {name: "workers", number: true, cell: workers},
    ],
  });
  const times = latency();
  const before = unread(), found = el("div", {hidden: true}, summary, moving, times.node, el("h2", {}, "Queues"), list);
  const node = el("div", {}, el("h1", {}, "Overview"), before, found);
  const unlisten = listen(({queues, failure}) => {
    before.update({queues, failure});
    found.hidden = !queues;
    if (!queues) return;
    summary.replaceChildren(sums(queues));
    moving.update(queues.map((queue) => queue.queue));
    times.update(queues);
    list.update(queues);
  });
  return {title: "Overview", node, end: () => { unlisten(); times.end(); }};
}

function pauseForm(name) {
  const until = el("input", {id: "pause-for", size: 6, placeholder: "for good", maxlength: 20, autocomplete: "off"});
  const wrong = el("span", {class: "wrong", role: "alert"});
  const act = async (verb) => {
    wrong.textContent = "";
    try {
      await post(["queues", name, verb], verb === "pause" && until.value.trim() ? {for: until.value.trim()} : {});
      say(verb === "pause" ? `${name} is paused: workers take no more of it` : `${name} goes on`);
    } catch (failure) { wrong.textContent = failure.whole; }
  };
  const pause = el("form", {class: "row", submit: (event) => { event.preventDefault(); act("pause"); }},
    el("label", {for: "pause-for"}, "Pause for"), until, el("button", {}, "Pause"));
  const resume = el("button", {type: "button", click: () => act("resume")}, "Resume");
  const node = el("div", {class: "row"}, pause, resume, wrong);
  node.update = (queue) => { pause.hidden = queue.paused; resume.hidden = !queue.paused; };
  return node;
}

const STATES = ["waiting", "active", "scheduled", "done", "dead", "cancelled"];

export function queue({parts: [name], query, pages}) {
  const isOfFigures = query.get("show") === "figures", shown = isOfFigures ? "" : STATES.includes(query.get("state")) ? query.get("state") : "waiting";
  const about = el("div"), moving = charts(), controls = mayOperate() ? pauseForm(name) : el("p", {class: "note"}, "You may look, not change.");
  const tabs = el("nav", {"aria-label": "Runs by state, and figures"}, el("ul", {class: "tabs"}));
  const missing = el("p", {class: "empty", hidden: true}, "The store has no such queue. One begins with its first run or its first worker.");
  const before = unread(), found = el("div", {hidden: true}, about, controls, moving, el("h2", {}, "Runs and figures"), tabs);
  const part = isOfFigures ? figures(name) : listing({queue: name, state: shown}, {isQueue: true, pages});
  found.append(part.node);
  const end = listen(({queues, failure}) => {
    before.update({queues, failure});
    if (!queues) return;
    const its = queues.find((each) => each.queue === name);
    found.hidden = !its;
    missing.hidden = Boolean(its);
    if (!its) return;
    focusKept(about, () => about.replaceChildren(its.paused ? el("p", {}, paused(its)) : "", facts([
      ["oldest waits", age(its)],
      ["workers", workers(its)], ["parked", parked(its)],
      ["capacity", its.capacity ? number(its.capacity) : "no bound"],
      ["dead kept", its.dead_capacity ? number(its.dead_capacity) : "no bound"],
      ...Object.entries(its.totals).map(([total, value]) => [`${total}, ever`, number(value)]),
    ])));
    controls.update?.(its);
    moving.update([name]);
    const links = STATES.map((state) => el("li", {}, el("a", {href: state === "dead" ? deadPath(name) : `${path("queue", name)}?state=${state}`, "aria-current": state === shown ? "page" : null}, `${state} `, el("b", {}, number(its[state])))));
    links.push(el("li", {}, el("a", {href: `${path("queue", name)}?show=figures`, "aria-current": isOfFigures ? "page" : null}, "figures")));
    if (links.some((link, at) => !tabs.firstChild.children[at]?.isEqualNode(link))) {
      const had = [...tabs.querySelectorAll("a")].indexOf(document.activeElement);
      tabs.firstChild.replaceChildren(...links);
      if (had >= 0) tabs.querySelectorAll("a")[had].focus();
    }
  });
  const enqueue = mayEnqueue() ? el("a", {class: "button", href: `#/enqueue?queue=${encodeURIComponent(name)}`}, "Enqueue a run") : "";
  const node = el("div", {}, el("p", {class: "trail"}, el("a", {href: "#/"}, "Overview")), el("div", {class: "head"}, el("h1", {}, "Queue ", short(name, 64)), enqueue), before, missing, found);
  return {title: `Queue ${name}`, node, pages: part.pages, end: () => { end(); part.end(); }};
}
