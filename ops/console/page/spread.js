// Figures of a queue's jobs: how attempts ended, how long runs waited and took.
import {get} from "./api.js";
import {asked} from "./asked.js";
import {shape} from "./chart.js";
import {el, micros, number, plain, short, table} from "./dom.js";
import {histogram, scale} from "./histogram.js";

const WIDTH = 200, HEIGHT = 16;

function drawing(label, ...parts) {
  const svg = shape("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label, class: "bars"});
  svg.append(...parts);
  return svg;
}

const bar = (name, from, to, inset = 2) => shape("rect", {class: name, x: from.toFixed(1), y: inset, width: Math.max(1, to - from).toFixed(1), height: HEIGHT - 2 * inset});

const ENDS = ["done", "failed", "crashed", "lost"];

const share = (part, whole) => `${((part / whole) * 100).toFixed(part === 0 || part === whole ? 0 : 1)} %`;

/** How parts make up a whole: [[name, count], ...]. */
export function parts(counts) {
  const whole = counts.reduce((sum, [, count]) => sum + count, 0), shown = counts.filter(([, count]) => count > 0);
  let at = 0;
  return drawing(whole ? shown.map(([name, count]) => `${share(count, whole)} ${name}`).join(", ") : "none",
    shape("rect", {class: "ground", x: 0, y: 2, width: WIDTH, height: HEIGHT - 4}),
    ...shown.map(([name, count]) => { const from = at; at += (count / whole) * WIDTH; return bar(`part ${name}`, from, at); }));
}

const jobOf = (row) => (row.isAll ? el("b", {}, "all jobs") : row.job ? short(row.job, 60) : "(others)");

function ends() {
  return table({
    caption: "Ends of attempts", key: (row) => row.key, empty: "",
    columns: [
      {name: "Job", head: true, cell: jobOf},
      ...ENDS.map((name) => ({name, number: true, cell: (row) => number(row[name])})),
      {name: "then dead", number: true, cell: (row) => number(row.dead)}, {name: "cancelled", number: true, cell: (row) => number(row.cancelled)},
      {name: "Shares", class: "drawn", cell: (row) => parts(ENDS.map((name) => [name, row[name]]))},
    ],
  });
}

function drawn(row) {
  const node = histogram(28);
  node.update(row.times.buckets, row.scale);
  return node;
}

function times(title) {
  return table({
    caption: title, key: (row) => row.key, empty: el("p", {}, "No time was measured."),
    columns: [
      {name: "Job", head: true, cell: jobOf},
      {name: "times", number: true, cell: (row) => number(row.times.count)},
      ...["p50", "p90", "p99", "max"].map((name) => ({name, number: true, cell: (row) => micros(row.times[`${name}_us`])})),
      {name: "Histogram", class: "drawn", cell: drawn},
    ],
  });
}

/** The rows that have times, with the scale that they share. */
function timesOf(rows, name) {
  const having = rows.filter((row) => row[name].count > 0).map((row) => ({...row, times: row[name]}));
  const shared = scale(having.map((row) => row.times.buckets));
  return having.map((row) => ({...row, scale: shared}));
}

const HOURS = [1, 2, 6, 24, 48];

export function figures(queue) {
  const ended = ends(), waits = times("How long runs waited"), takes = times("How long handlers took");
  const none = el("p", {class: "empty"}), found = el("div", {}, el("h3", {}, "How attempts ended"), ended, el("h3", {}, "How long runs waited"), waits, el("h3", {}, "How long handlers took"), takes,
    el("p", {class: "note"}, "Of a histogram the mark is p50, and the highest bar is as high in each row; all jobs have one scale, on which ten times as long is as far everywhere. Times are read off histograms, and up to a fourth too long."));
  const hours = el("select", {id: "hours", change: () => moving.load()}, HOURS.map((count) => el("option", {value: count, selected: count === 2}, count === 1 ? "this hour" : `${count} hours`)));
  const node = el("div", {}, none, found);
  const moving = asked((signal) => get(["queues", queue, "figures"], {hours: hours.value}, signal), node, ({all, jobs, hours: count}) => {
    const rows = [...jobs.map((row) => ({...row, key: `job ${row.job}`})), ...(jobs.length > 1 ? [{...all, key: "all", isAll: true}] : [])];
    none.hidden = jobs.length > 0;
    found.hidden = !none.hidden;
    none.textContent = plain(`No worker has brought an attempt to its end here ${count === 1 ? "in this hour" : `in the last ${count} hours`}. Workers tell about once a second what they did.`);
    ended.update(rows);
    waits.update(timesOf(rows, "wait"));
    takes.update(timesOf(rows, "run"));
  }, 5000);
  const section = el("section", {class: "spreads"}, el("div", {class: "head"}, el("p", {class: "note"}, "Attempts that workers brought to an end."), el("p", {class: "row"}, el("label", {for: "hours"}, "By the store's clock, the last"), hours)), moving.wrong, node);
  return {node: section, end: moving.end};
}
