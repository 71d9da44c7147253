// A form made from a job's schema. The server checks what is sent; what it refuses is told beside the param.
import {each, get, later, parse, post} from "./api.js";
import {el, path, plain, say, short} from "./dom.js";
import {typeName} from "./run.js";
import {wrongTell, wrongText} from "./runs.js";
import {mayEnqueue, session} from "./session.js";

const READ_MAX = 300; // schemas, to know the queues of their jobs

const INTEGER = /^u?int(8|16|32|64|128)$/, FLOAT = /^float/;
const HINTS = {duration: "1.5s", timestamp: "2026-11-30T09:30:00Z", uuid: "36 characters", bytes: "base64", float64: "0.1", float32: "0.1"};

const has = (field, flag) => (field.flags ?? []).includes(flag);
const wire = (field) => field.wire ?? field.name;
const isBlankable = (field) => field.kind === "string" && !isMany(field) && has(field, "required") && !field.min_len;
const isMany = (field) => field.shape === "list" || field.shape === "array";

function defaultOf(field) {
  if (field.default === undefined) return undefined;
  try { return parse(field.default); } catch { return field.default; }
}

/** One value as JSON has it. What is no number is sent as it is: the server says what is wrong. */
function scalar(field, text) {
  if (INTEGER.test(field.kind) && /^-?\d+$/.test(text.trim())) return Number.isSafeInteger(Number(text)) ? Number(text) : text.trim();
  if (FLOAT.test(field.kind) && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  if (field.kind === "bool") return text.trim() === "true" ? true : text.trim() === "false" ? false : text;
  return field.kind === "string" || field.kind === "char" ? text : text.trim();
}

function bounds(field) {
  const of = [];
  if (field.min !== undefined || field.max !== undefined) of.push(`${field.min ?? "…"} to ${field.max ?? "…"}`);
  if (field.max_len) of.push(`${field.min_len ? `${field.min_len} to` : "at most"} ${field.max_len} bytes`);
  else if (field.min_len) of.push(`at least ${field.min_len} bytes`);
  if (field.shape === "array") of.push(`${field.count}`);
  else if (field.shape === "list" && field.count) of.push(`at most ${field.count}`);
  if (isMany(field)) of.push(field.kind === "struct" ? "as a JSON array" : "one a line");
  else if (field.kind === "struct") of.push("as JSON");
  return of.join(", ");
}

function choice(id, options, isOpen, value) {
  return el("select", {id}, isOpen ? el("option", {value: ""}, "(not given)") : "", options.map(([name, doc]) => el("option", {value: name, selected: name === value}, doc ? `${name}: ${plain(doc).slice(0, 80)}` : name)));
}

// Lines of a secret text are dots, too; where the browser cannot do that it has one line.
const isDotted = CSS.supports("-webkit-text-security", "disc");

function textInput(field, id, preset) {
  const isSecret = has(field, "secret"), text = preset === undefined ? "" : String(preset);
  if (field.kind === "string" && (!isSecret || isDotted)) return el("textarea", {id, class: isSecret ? "secret" : null, rows: Math.min(8, text.split("\n").length), autocomplete: "off", spellcheck: "false"}, text);
  return el("input", {id, type: isSecret ? "password" : "text", value: text, placeholder: HINTS[field.kind], autocomplete: "off", spellcheck: "false", inputmode: INTEGER.test(field.kind) ? "numeric" : null});
}

function structs(field, text) {
  const wanted = isMany(field) ? "a JSON array is wanted, as [{…}, {…}]" : "a JSON object is wanted, as {…}";
  let value;
  try { value = parse(text); } catch (error) { throw new Error(`${wanted}: ${error.message}`); }
  if (isMany(field) && !Array.isArray(value)) throw new Error(wanted);
  return value;
}

/** The input of a field; value() is what it holds, undefined for none. */
function inputMake(field, schema, preset) {
  const id = `p-${wire(field)}`, isOpen = !has(field, "required") && preset === undefined;
  if (field.kind === "struct") {
    const node = el("textarea", {id, rows: 4, spellcheck: "false"}, preset === undefined ? "" : JSON.stringify(preset, null, 1));
    return {node, value: () => (node.value.trim() === "" ? undefined : structs(field, node.value))};
  }
  if (isMany(field)) {
    const node = el("textarea", {id, rows: 3, spellcheck: "false"}, Array.isArray(preset) ? preset.join("\n") : "");
    return {node, value: () => { const lines = node.value.replace(/\n$/, ""); return lines === "" ? undefined : lines.split("\n").map((line) => scalar(field, line)); }};
  }
  const values = field.kind === "bool" ? [["true"], ["false"]] : field.kind === "enum" ? (schema.enums ?? []).find((each) => each.name === field.type)?.values.map((value) => [value.name, value.doc]) : null;
  if (values) {
    const node = choice(id, values, isOpen || has(field, "required"), preset === undefined ? undefined : String(preset));
    return {node, value: () => (node.value === "" ? undefined : scalar(field, node.value))};
  }
  const node = textInput(field, id, preset);
  const isEmptyGiven = isBlankable(field) || (field.kind === "string" && preset !== undefined);
  return {node, value: () => (node.value === "" && !isEmptyGiven ? undefined : scalar(field, node.value))};
}

/** read() is undefined, too, for a default as it came: an input may not hold all that one has, and the server knows it. */
function input(field, schema) {
  const preset = defaultOf(field), {node, value} = inputMake(field, schema, preset), shown = node.value;
  return {node, read: () => (preset !== undefined && node.value === shown ? undefined : value())};
}

function row(name, label, node, about, doc) {
  const wrong = el("span", {class: "wrong", id: `w-${node.id}`, role: "alert"});
  node.setAttribute("aria-describedby", `d-${node.id} w-${node.id}`);
  node.addEventListener("input", () => { wrong.textContent = ""; node.removeAttribute("aria-invalid"); });
  return {name, node, wrong, line: el("div", {class: "field"}, el("label", {for: node.id}, label), node, el("span", {class: "hint", id: `d-${node.id}`}, about, doc ? [" ", short(doc, 300)] : ""), wrong)};
}

const EXTRAS = [["delay", "Delay", "as 90s, 5m or 2h; empty: at once"], ["at", "At", "in place of a delay: 2026-11-30T09:30:00Z"], ["priority", "Priority", "0 to 9, the greater the sooner"],
  ["tags", "Tags", "with commas, in place of the schema's"], ["idempotency_key", "Idempotency key", "within a day the queue takes one run for a key"]];

function extras() {
  return EXTRAS.map(([name, label, hint]) => {
    const node = el("input", {id: `x-${name}`, type: "text", autocomplete: "off", spellcheck: "false", maxlength: 1000});
    return {...row(name, label, node, hint), read: () => {
      const text = node.value.trim();
      if (text === "") return undefined;
      if (name === "tags") return text.split(",").map((tag) => tag.trim()).filter(Boolean);
      return name === "priority" && /^\d+$/.test(text) ? Number(text) : text;
    }};
  });
}

const keyMake = () => `console-${[...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;

function form(schema, queue, job) {
  const fields = (schema.params?.fields ?? []).map((field) => {
    const {node, read} = input(field, schema);
    const need = has(field, "required") ? "required" : has(field, "default_withheld") || field.default !== undefined ? "has a default" : "may be left out";
    const about = [el("code", {}, typeName(field)), ` ${[need, bounds(field), isBlankable(field) ? "left blank it is the empty text" : "", has(field, "secret") ? "secret: it is not shown again" : "", has(field, "encrypted") ? "encrypted: only programs that have its key can give it" : "", has(field, "deprecated") ? "deprecated" : ""].filter(Boolean).join("; ")}.`];
    if (has(field, "required")) node.setAttribute("aria-required", "true");
    return {...row(wire(field), [short(field.name, 60), has(field, "required") ? el("span", {class: "star", "aria-hidden": "true"}, " *") : ""], node, about, field.doc), read, called: field.name, isRequired: has(field, "required")};
  });
  const more = extras(), all = [...fields, ...more], general = el("div", {role: "alert"}), told = el("div", {role: "status"});
  const send = el("button", {class: "main"}, "Enqueue");
  let key = keyMake();
  const given = new Set();
  // The answer does not tell a param from an option of its name: it is that which can be wrong, and neither where both can.
  const blame = (failure) => {
    const name = failure.param?.match(/^[^.[]+/)?.[0], isIt = (each) => each.name === name || each.called === name;
    const may = [...fields.filter((each) => isIt(each) && (given.has(each) || each.isRequired)), ...more.filter((each) => isIt(each) && given.has(each))];
    const [at] = may.length ? may : fields.filter(isIt);
    if (!at || may.length > 1) { general.replaceChildren(wrongText(may.length ? {message: `the option or the param ${name}: ${failure.whole}`} : failure)); return; }
    at.wrong.textContent = plain(failure.whole ?? failure.message);
    at.node.setAttribute("aria-invalid", "true");
    if (more.includes(at)) details.open = true;
    at.node.focus();
  };
  const collect = () => {
    const params = Object.create(null), body = {params}; // a param may be named __proto__
    given.clear();
    for (const each of all) {
      let value;
      try { value = each.read(); } catch (error) { given.add(each); blame({param: each.name, message: error.message}); return null; }
      if (value === undefined) continue;
      given.add(each);
      (fields.includes(each) ? params : body)[each.name] = value;
    }
    body.idempotency_key ??= key;
    return body;
  };
  const details = el("details", {}, el("summary", {}, "When, how urgent, tags"), el("div", {class: "fields"}, more.map((each) => each.line)));
  return el("form", {class: "enqueue", novalidate: true, submit: async (event) => {
    event.preventDefault();
    general.replaceChildren();
    told.replaceChildren();
    all.forEach((each) => { each.wrong.textContent = ""; each.node.removeAttribute("aria-invalid"); });
    const body = collect();
    if (!body) return;
    send.disabled = true;
    try {
      const run = await post(["jobs", queue, job], body);
      key = keyMake();
      told.replaceChildren(el("p", {class: "good"}, run.outcome === "new" ? "Enqueued: " : `Not a new run, but ${run.outcome}: `, el("a", {class: "id", href: path("run", run.queue, run.id)}, run.id)));
      say(run.outcome === "new" ? "Enqueued" : `Not a new run, but ${run.outcome}`);
    } catch (failure) {
      if (!failure.isAway) key = keyMake();
      blame(failure);
    }
    send.disabled = false;
  }}, fields.length ? el("div", {class: "fields wide"}, fields.map((each) => each.line)) : el("p", {class: "note"}, "This job takes no params."), details, general, el("p", {class: "row"}, send), told);
}

const ownQueue = (schema) => schema.queue ?? schema.wire ?? schema.name;

/** Of each queue the jobs that workers have told there. A worker tells all its jobs in each queue that it serves: those of other queues come last. */
async function choices(queue, signal) {
  const known = new Map();
  for (const row of (await get(["schemas"], {}, signal)).schemas) if (!queue || row.queue === queue) known.set(`${row.queue}\n${row.job}`, row);
  const rows = [...known.values()];
  await each(rows.slice(0, READ_MAX), async (row) => {
    try { row.own = ownQueue(await get(["schemas", row.queue, row.job], {}, signal)); } catch (failure) { if (failure.status !== 404) throw failure; }
  });
  return rows.map((row) => ({...row, isForeign: row.own !== undefined && row.own !== row.queue})).sort((one, other) => one.isForeign - other.isForeign);
}

function chooser(rows) {
  if (!rows.length) return el("div", {class: "empty"}, el("p", {}, "The store knows no job here. A worker tells the schemas of its jobs when it starts; then the form is made from them."));
  const select = el("select", {id: "job"}, rows.map((row, at) => el("option", {value: at}, `${plain(row.job)} (${plain(row.queue)}${row.isForeign ? ", not its own queue" : ""})`)));
  return el("form", {class: "row", submit: (event) => { event.preventDefault(); const row = rows[Number(select.value)]; location.hash = path("enqueue", row.queue, row.job); }},
    el("label", {for: "job"}, "Job"), select, el("button", {class: "main"}, "Go on"));
}

export function enqueue({parts: [queue, job], query}) {
  const control = new AbortController(), body = el("div", {}, el("p", {}, "Looking…")), isOfWorker = session.role === "work";
  const show = async () => {
    try {
      if (job === undefined) { body.replaceChildren(chooser(await choices(query.get("queue"), control.signal))); return; }
      const schema = await get(["schemas", queue, job], {}, control.signal), own = ownQueue(schema);
      body.replaceChildren(schema.doc ? el("p", {}, short(schema.doc, 1000)) : "", el("p", {class: "note"}, "Into queue ", short(queue, 64), own === queue ? "" : ["; the job's own is ", short(own, 64)], "."), form(schema, queue, job));
    } catch (failure) {
      if (failure.name === "AbortError") return;
      wrongTell(body, failure);
      if (failure.isAway) later(show, control.signal);
    }
  };
  if (mayEnqueue()) show();
  else body.replaceChildren(el("p", {class: "empty"}, isOfWorker ? "It may claim runs, not look at them or enqueue. For this page there are tokens of the roles read, enqueue and operate." : "You may look, not enqueue."));
  const title = isOfWorker ? "This token is for workers" : job === undefined ? "Enqueue" : `Enqueue ${job}`;
  const head = isOfWorker ? title : ["Enqueue ", job === undefined ? "a run" : short(job, 80)];
  const node = el("div", {}, job === undefined || isOfWorker ? "" : el("p", {class: "trail"}, el("a", {href: "#/enqueue"}, "Another job")), el("h1", {}, head), body);
  return {title, node, end: () => control.abort()};
}
