// Workers: what they do, and orders to them.
import {get, post} from "./api.js";
import {asked} from "./asked.js";
import {bytes, el, focusFree, number, path, plain, say, short, span, sure, table, time} from "./dom.js";
import {storeNow} from "./live.js";
import {mayOperate} from "./session.js";

const doing = (worker) => (worker.is_stopping ? "stopping" : worker.is_quiet ? "quiet" : worker.runs_total === 0 ? "ready" : "at work");
const runs = (count) => (count === 1 ? "the run" : `the ${number(count)} runs`);

/** What a worker can be told, and why it was not; update(worker). `changed` is called after an order. */
function orders(worker, changed) {
  let its = worker;
  const name = plain(worker.name), wrong = el("p", {class: "wrong", role: "alert", id: `w-${worker.id}`});
  const input = el("input", {size: 4, maxlength: 4, inputmode: "numeric", autocomplete: "off", "aria-describedby": `w-${worker.id}`});
  const blame = (failure) => {
    wrong.textContent = plain(failure.whole ?? failure.message);
    if (failure.param !== "concurrency") return;
    input.setAttribute("aria-invalid", "true");
    input.focus();
  };
  const give = async (order, said) => {
    wrong.textContent = "";
    input.removeAttribute("aria-invalid");
    try {
      await post(["workers", its.id, "set"], order);
      say(`${name} is told to ${said}`);
      if (order.concurrency) input.value = "";
      changed();
    } catch (failure) { blame(failure); }
  };
  const quiet = el("button", {type: "button", click: () => (its.is_quiet ? give({quiet: false}, "take runs again") : give({quiet: true}, "take no more runs"))});
  const stop = el("button", {type: "button", class: "danger", "aria-label": `Stop ${name}`, click: async () => {
    const rest = its.runs_total ? `, has its grace to finish ${runs(its.runs_total)} at work,` : "";
    if (await sure("Stop this worker?", `${its.name} on ${its.host || "some machine"}, process ${its.pid}: it takes no more runs${rest} and ends. It cannot be started again from here.`, "Stop it")) give({stop: true}, "stop");
  }}, "Stop");
  const set = el("form", {class: "row", submit: (event) => {
    event.preventDefault();
    const text = input.value.trim(), most = number(its.concurrency_max);
    if (!/^\d+$/.test(text)) blame({param: "concurrency", message: `Runs at a time: how many, 1 to ${most}`});
    else give({concurrency: Number(text)}, `have ${text} at a time`);
  }}, el("label", {}, "At a time ", el("span", {class: "hidden"}, `runs of ${name}, 1 to ${number(worker.concurrency_max)} `), input), el("button", {"aria-label": `Set how many runs ${name} has at a time`}, "Set"));
  const node = el("div", {class: "orders"}, el("div", {class: "row"}, quiet, stop), set, wrong);
  node.update = (now) => {
    its = now;
    const label = now.is_quiet ? "Resume taking" : "Quiet";
    if (quiet.textContent !== label) {
      quiet.textContent = label;
      quiet.setAttribute("aria-label", now.is_quiet ? `Resume taking runs with ${name}` : `Quiet ${name}`);
    }
    input.placeholder = now.concurrency;
    set.hidden = now.concurrency_max === 1;
    if (now.is_stopping) focusFree(node);
    node.hidden = now.is_stopping;
  };
  node.update(worker);
  return node;
}

export function workers() {
  const list = table({
    caption: "Workers", key: (worker) => worker.id,
    empty: [el("p", {}, "No worker is alive, so what waits stays waiting."), el("p", {}, "Start a program with handlers, with the URL of this store.")],
    columns: [
      {name: "Worker", head: true, cell: (w) => short(w.name, 40)},
      {name: "Where", cell: (w) => [short(w.host, 30), `, process ${w.pid}`]},
      {name: "State", cell: (w) => [el("span", {class: `state ${w.is_stopping || w.is_quiet ? "paused" : "done"}`}, doing(w)), w.is_pending ? " an order waits" : ""]},
      mayOperate() && {name: "Orders", kept: true, cell: (w) => orders(w, () => moving.load())},
      {name: "Runs", number: true, cell: (w) => `${number(w.runs_total)} of ${number(w.concurrency)}`},
      {name: "At work on", cell: (w) => [w.runs.slice(0, 5).map((r) => el("div", {}, el("a", {href: path("run", r.queue, r.id), title: r.id}, short(r.job, 30)), ` for ${span(storeNow() - r.since_ms)}`)), w.runs_total > 5 ? `and ${number(w.runs_total - 5)} more` : ""].flat()},
      {name: "Queues", cell: (w) => [w.queues.slice(0, 8).map((q) => [el("a", {href: path("queue", q.name)}, short(q.name, 30)), " "]), w.queues_total > 8 ? `and ${number(w.queues_total - 8)} more` : ""].flat(2)},
      {name: "Done", number: true, cell: (w) => number(w.done)},
      {name: "Failed", number: true, cell: (w) => number(w.failed)},
      {name: "Memory", number: true, cell: (w) => [bytes(w.memory_bytes), w.children_bytes ? ` + ${bytes(w.children_bytes)}` : ""].join("")},
      {name: "Since", cell: (w) => time(w.started_ms)},
      {name: "Isolation", cell: (w) => w.isolation},
      {name: "Version", cell: (w) => short(w.version, 20)},
    ].filter(Boolean),
  });
  const moving = asked((signal) => get(["workers"], {}, signal), list, ({workers: of}) => list.update(of));
  const about = ["Those that are alive. Memory is that of the worker, and of its processes for handlers.", mayOperate() ? " An order is obeyed within three seconds." : " You may look, not change."];
  return {title: "Workers", node: el("div", {}, el("h1", {}, "Workers"), el("p", {class: "note"}, about), moving.wrong, list), end: moving.end};
}
