// What is shown: elements, texts of strangers, times, numbers, tables. Texts become text nodes, never markup.

/** An element: el("a", {href: "#/"}, "text", child...). Of the attributes, functions are listeners. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** The text with what hides or reorders others made visible. */
export function plain(text) {
  return String(text).replace(unseen, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A text of somebody else's on one line, cut; whole in the title. */
export function short(text, most = 60) {
  const whole = plain(text).replace(/\s+/g, " ");
  const letters = [...whole.slice(0, most * 2 + 2)];
  if (letters.length <= most) return el("bdi", {}, whole);
  return el("bdi", {title: whole.slice(0, 2000)}, letters.slice(0, most - 1).join("") + "…");
}

/** 12 345 with narrow spaces. Also of digits too long for a Number. */
export function number(value) {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

export function rate(value) {
  if (value === null || value === undefined) return "–";
  return value >= 100 ? number(Math.round(value)) : value.toFixed(value >= 10 ? 1 : 2);
}

export function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  while (value >= 1024 && at < units.length - 1) { value /= 1024; at++; }
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[at]}`;
}

/** About how long: "3 min", "2 d". */
export function span(ms) {
  const s = Math.max(0, ms) / 1000;
  if (s < 1) return `${Math.round(s * 1000)} ms`;
  if (s < 90) return `${Math.round(s)} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  if (s < 172800) return `${Math.round(s / 3600)} h`;
  return `${Math.round(s / 86400)} d`;
}

/** A measured time: "340 µs", "2.5 ms", "1.3 s", "4 min". */
export function micros(us) {
  const most = (value, unit) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
  return us < 1000 ? `${us} µs` : us < 1e6 ? most(us / 1000, "ms") : us < 9e7 ? most(us / 1e6, "s") : span(us / 1000);
}

const clockParts = {hour: "numeric", minute: "2-digit", second: "2-digit", timeZoneName: "shortOffset"};
const local = new Intl.DateTimeFormat(undefined, {year: "numeric", month: "short", day: "numeric", ...clockParts});
const ofDay = new Intl.DateTimeFormat(undefined, clockParts);

/** The time of a day here, with the zone. */
export const clock = (ms) => ofDay.format(new Date(ms));

/** A time of here with its zone, and with that of UTC in its title; "never" without one. */
export function time(ms, never = "–") {
  if (!ms) return never;
  const at = new Date(ms);
  if (Number.isNaN(at.getTime())) return String(ms);
  const utc = at.toISOString();
  return el("time", {datetime: utc, title: utc.replace("T", " ").replace("Z", " UTC")}, local.format(at));
}

export const path = (...parts) => "#/" + parts.map(encodeURIComponent).join("/");

export function state(name) {
  return el("span", {class: `state ${/^[a-z]+$/.test(name) ? name : ""}`}, name);
}

export function runLink(run) {
  return el("a", {href: path("run", run.queue, run.id), class: "id", title: run.id}, run.id);
}

/** Says something to whoever listens or looks. */
export function say(text) {
  const said = document.getElementById("said");
  said.textContent = plain(text).slice(0, 500);
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { said.textContent = ""; }, 8000);
}

/** A change of what is in a node; what has the focus keeps it, or what comes in its place takes it. */
export function focusKept(node, change) {
  const had = node.contains(document.activeElement) ? document.activeElement : null;
  const list = () => [...node.querySelectorAll("a, button, input")];
  const at = had ? list().indexOf(had) : -1;
  change();
  if (!had || document.contains(had)) return;
  const next = list()[at];
  // Another button than that which was there is not what somebody is about to press.
  if (next && (next.tagName !== "BUTTON" || next.textContent === had.textContent)) next.focus();
  else document.getElementById("main").focus({preventScroll: true});
}

/** Before a node goes away or is hidden: where it has the focus, the page takes it. */
export function focusFree(node) {
  if (node.contains(document.activeElement)) document.getElementById("main").focus({preventScroll: true});
}

/** Changes only what differs, so that focus, selection and scrolling stay. */
function cellsRenew(row, cells) {
  cells.forEach((cell, at) => {
    const old = row.children[at];
    if (!old) row.append(cell);
    else if (!old.isEqualNode(cell)) focusKept(row, () => old.replaceWith(cell));
  });
}

/** A table whose rows are kept by a key. columns: {name, cell(row) -> node or text, number, head}; of one that is `kept` cell(row) is asked for once, and is a node that has an update(row). */
export function table({caption, columns, key, empty, label = caption}) {
  const body = el("tbody", {role: "rowgroup"});
  const heads = columns.map((c) => el("th", {scope: "col", role: "columnheader", class: c.number ? "number" : c.class}, c.name));
  const whole = el("table", {role: "table", class: "cards"},
    el("caption", {class: "hidden"}, label),
    el("thead", {role: "rowgroup"}, el("tr", {role: "row"}, heads)), body);
  const none = el("div", {class: "empty"}, empty);
  const node = el("div", {class: "table"}, whole, none);
  const kept = new Map();
  const cellOf = (c, row) => el(c.head ? "th" : "td", {
    scope: c.head ? "row" : null, role: c.head ? "rowheader" : "cell", "data-name": c.name, class: c.number ? "number" : c.class,
  }, el("div", {}, c.cell(row)));
  const cellsOf = (row, line) => columns.map((c, at) => {
    const old = c.kept && line.children[at];
    if (!old) return cellOf(c, row);
    old.firstChild.firstChild.update(row);
    return old;
  });
  node.update = (rows) => {
    const names = new Set(rows.map(key));
    whole.hidden = rows.length === 0;
    none.hidden = rows.length > 0;
    // First, so that those that stay need not be moved, which would take the focus from them.
    for (const [name, line] of kept) {
      if (!names.has(name)) { focusFree(line); line.remove(); kept.delete(name); }
    }
    rows.forEach((row, at) => {
      const name = key(row);
      const line = kept.get(name) || el("tr", {role: "row"});
      kept.set(name, line);
      cellsRenew(line, cellsOf(row, line));
      if (body.children[at] !== line) body.insertBefore(line, body.children[at] || null);
    });
  };
  node.update([]);
  return node;
}

/** Names with values, as a list: [[name, node or text], ...]. */
export function facts(pairs) {
  return el("dl", {class: "facts"}, pairs.filter(Boolean).map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

/** Asks before something is done that cannot be undone. */
export function sure(title, text, yes) {
  const dialog = document.getElementById("sure");
  document.getElementById("sure-title").textContent = title;
  document.getElementById("sure-text").textContent = plain(text);
  document.getElementById("sure-yes").textContent = yes;
  return new Promise((resolve) => {
    const end = (answer) => () => { dialog.onclose = null; dialog.close(); resolve(answer); };
    document.getElementById("sure-yes").onclick = end(true);
    document.getElementById("sure-no").onclick = end(false);
    dialog.onclose = () => resolve(false);
    dialog.showModal();
    document.getElementById("sure-no").focus();
  });
}
