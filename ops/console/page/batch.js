// A batch: runs that are counted together.
import {get} from "./api.js";
import {asked} from "./asked.js";
import {el, facts, number, path, short} from "./dom.js";
import {parts} from "./spread.js";

const NAME = /^([A-Za-z0-9_.:-]{1,64})\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** Where the batch is shown that a text names, as QUEUE/ID; null for what is no such name. */
export function batchPath(text) {
  const [, queue, id] = NAME.exec(text) ?? [];
  return id ? path("batch", queue, id.toLowerCase()) : null;
}

function state(batch) {
  if (batch.is_ended && batch.is_expired) return ["dead", "ended: nobody had closed it in time"];
  if (batch.is_ended) return batch.dead || batch.cancelled ? ["dead", "ended, not all with success"] : ["done", "ended, with success"];
  if (batch.is_expired) return ["dead", "nobody has closed it in time; members go on"];
  return batch.is_closed ? ["active", "closed: it ends with its members"] : ["waiting", "open: more members may come"];
}

export function batches() {
  const wrong = el("p", {class: "wrong", id: "w-batch", role: "alert"});
  const name = el("input", {id: "batch", size: 60, maxlength: 120, placeholder: "QUEUE/ID", autocomplete: "off", spellcheck: "false", "aria-describedby": "w-batch"});
  const form = el("form", {class: "row", submit: (event) => {
    event.preventDefault();
    const to = batchPath(name.value.trim());
    wrong.textContent = to ? "" : "A batch is named by its queue and its id, as mail/01a22d7f-4f28-7826-b394-100000000001";
    name.toggleAttribute("aria-invalid", false);
    if (to) { location.hash = to; return; }
    name.setAttribute("aria-invalid", "true");
    name.focus();
  }}, el("label", {for: "batch"}, "Name"), name, el("button", {class: "main"}, "Show"));
  const about = el("p", {class: "note"}, "Runs that are counted together, and what comes in when they have ended. The store has no list of them: a batch is looked at by its name, as culex_batch_format writes it and callbacks have it in their params.");
  return {title: "Batches", node: el("div", {}, el("h1", {}, "Batches"), about, form, wrong)};
}

export function batch({parts: [queue, id]}) {
  const body = el("div");
  const moving = asked((signal) => get(["batches", queue, id], {}, signal), body, (its) => {
    const [kind, text] = state(its), ended = its.added - its.open;
    const now = el("div", {}, el("p", {}, el("span", {class: `state ${kind}`}, text)),
      el("section", {class: "figures"}, facts([["members", number(its.added)], ["done", number(its.done)], ["dead", number(its.dead)], ["cancelled", number(its.cancelled)], ["still to end", number(its.open)]])),
      el("p", {class: "row drawn"}, parts([["done", its.done], ["dead", its.dead], ["cancelled", its.cancelled], ["still to end", its.open]])),
      el("p", {class: "note"}, its.added === 0 ? "It has no members." : `${number(ended)} of ${number(its.added)} have ended.`));
    if (!body.firstChild?.isEqualNode(now)) body.replaceChildren(now);
    return its.is_ended;
  }, 2000);
  const node = el("div", {}, el("p", {class: "trail"}, el("a", {href: "#/batch"}, "Batches"), " / ", el("a", {href: path("queue", queue)}, short(queue, 40))), el("h1", {class: "long"}, "Batch ", el("span", {class: "id"}, short(id, 80))), moving.wrong, body);
  return {title: `Batch ${id}`, node, end: moving.end};
}
