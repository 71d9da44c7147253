// How long the runs of all queues waited and took.
import {each, get} from "./api.js";
import {asked} from "./asked.js";
import {el, micros, number} from "./dom.js";
import {histogram, percentile, scale, together} from "./histogram.js";

const HOURS = 2, QUEUES = 20;

const ended = ({totals}) => totals.done + totals.failed + totals.crashed + totals.lost;

/** The queues that are asked, which are those where most attempts have ended. */
const busiest = (queues) => queues.filter((queue) => ended(queue) > 0).sort((one, other) => ended(other) - ended(one)).slice(0, QUEUES).map((queue) => queue.queue);

function picture(title) {
  const value = el("strong"), drawn = histogram(48), ends = el("span", {class: "ends"});
  const node = el("figure", {class: "chart"}, el("figcaption", {}, title), value, drawn, ends);
  node.update = (buckets) => {
    const its = scale([buckets]);
    node.hidden = buckets.length === 0;
    if (node.hidden) return;
    value.textContent = `half within ${micros(percentile(buckets, 50))}`;
    ends.replaceChildren(...[its.least, its.most].map((us) => el("span", {}, micros(us))));
    drawn.update(buckets, its);
    drawn.setAttribute("aria-label", `${title}: ${drawn.getAttribute("aria-label")}`);
  };
  return node;
}

/** update(queues) says which queues there are. */
export function latency() {
  const waits = picture("Waited"), takes = picture("Handlers took"), about = el("p", {class: "note"});
  const node = el("section", {class: "latency", "aria-label": "How long runs waited and took"}, el("div", {class: "charts"}, waits, takes), about);
  let queues = [];
  // A queue may go while it is asked for.
  const ask = async (signal) => {
    const names = busiest(queues), found = [];
    await each(names, async (name) => {
      try { found.push((await get(["queues", name, "figures"], {hours: HOURS}, signal)).all); } catch (failure) { if (failure.code !== "not_found") throw failure; }
    });
    return found;
  };
  const moving = asked(ask, node, (found) => {
    const [wait, run] = ["wait", "run"].map((name) => together(found.map((all) => all[name].buckets)));
    waits.update(wait);
    takes.update(run);
    node.hidden = wait.length + run.length === 0;
    about.textContent = `Attempts that workers brought to an end in this hour and the last${busiest(queues).length < QUEUES ? "" : `, of the ${number(QUEUES)} busiest queues`}. Ten times as long is as far everywhere; the mark is the half.`;
  }, 5000);
  const update = (all) => {
    const isFirst = queues.length === 0;
    queues = all;
    if (isFirst && all.length > 0) moving.load();
  };
  return {node, update, end: moving.end};
}
