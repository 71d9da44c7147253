// The page itself: which view is shown, keys, dialogs, the banner.
import {Failure, onToken, token} from "./api.js";
import {batch, batches, batchPath} from "./batch.js";
import {dead} from "./dead.js";
import {clock, el, path, plain, say} from "./dom.js";
import {enqueue} from "./enqueue.js";
import {begin, fail, listen, live, watch} from "./live.js";
import {limit, limits} from "./limits.js";
import {schema, schemas} from "./lists.js";
import {overview, queue} from "./queues.js";
import {run} from "./run.js";
import {runFind, search} from "./runs.js";
import {schedules} from "./schedules.js";
import {mayEnqueue, mayOperate, mayRead, mayReadRun, session, sessionRead} from "./session.js";
import {workers} from "./workers.js";

const $ = (id) => document.getElementById(id);

const PAGES = [
  {at: "", name: "Overview", key: "o", view: overview}, {at: "runs", name: "Runs", key: "r", view: search},
  {at: "dead", name: "Dead letters", key: "d", view: dead}, {at: "schedules", name: "Schedules", key: "s", view: schedules},
  {at: "limits", name: "Limits", key: "l", view: limits}, {at: "batch", name: "Batches", key: "b", view: (asked) => (asked.parts.length ? batch : batches)(asked), parts: [0, 2]},
  {at: "workers", name: "Workers", key: "w", view: workers}, {at: "schemas", name: "Schemas", key: "m", view: schemas},
  {at: "enqueue", name: "Enqueue", key: "e", view: enqueue, parts: [0, 2]},
  {at: "queue", view: queue, parts: [1], of: ""}, {at: "run", view: run, parts: [2], of: "runs"}, {at: "schema", view: schema, parts: [2], of: "schemas"},
  {at: "limit", view: limit, parts: [2], of: "limits"},
];

// ---- which view

let shown = null;

function route() {
  const [way, asked = ""] = location.hash.replace(/^#\/?/, "").split("?");
  let [name, ...parts] = way.split("/");
  try { parts = parts.map(decodeURIComponent); } catch { parts = ["?"]; }
  const found = PAGES.find((each) => each.at === name && (each.parts ?? [0]).includes(parts.length));
  return {found, parts, query: new URLSearchParams(asked)};
}

function missing() {
  return {title: "Nothing here", node: el("div", {}, el("h1", {}, "Nothing here"), el("p", {}, "There is no such page. ", el("a", {href: "#/"}, "Overview")))};
}

// Where each entry of the browser's history was left: Back shows that again.
const places = new Map();
let here = null, returning = null;

/** What was left of the entry that is shown now; begins to keep it. */
function placeTake() {
  if (here) places.set(here, {y: scrollY, pages: shown?.pages?.() ?? 1});
  if (!history.state?.place) history.replaceState({place: String(Math.random())}, "");
  here = history.state.place;
  return places.get(here);
}

/** Scrolls there as the page grows, until it grows no more or somebody goes elsewhere. */
function placeReturn(y) {
  let timer;
  const observer = new ResizeObserver(() => {
    scrollTo(0, y);
    clearTimeout(timer);
    if (Math.abs(scrollY - y) < 2) timer = setTimeout(() => returning?.(), 1500);
  });
  const ends = ["wheel", "pointerdown", "keydown"];
  returning = () => {
    clearTimeout(timer);
    observer.disconnect();
    ends.forEach((name) => removeEventListener(name, returning));
    returning = null;
  };
  ends.forEach((name) => addEventListener(name, returning));
  observer.observe($("main"));
}

function show() {
  if (location.hash === "#main") return;
  returning?.();
  const place = placeTake();
  const {found, parts, query} = route(), main = $("main");
  shown?.end?.();
  shown = found && (mayRead() || found.at === "enqueue" || (found.at === "run" && mayReadRun())) ? found.view({parts, query, pages: place?.pages ?? 1}) : found ? enqueue({parts: [], query}) : missing();
  document.title = `${plain(shown.title).slice(0, 100)} · Culex`;
  main.replaceChildren(shown.node);
  const at = found?.of ?? found?.at;
  for (const link of $("nav").querySelectorAll("a")) link.toggleAttribute("aria-current", false);
  $("nav").querySelector(`a[data-at="${at}"]`)?.setAttribute("aria-current", "page");
  if (show.isLater) { main.focus({preventScroll: true}); scrollTo(0, 0); if (place?.y) placeReturn(place.y); }
  show.isLater = true;
}

function nav() {
  const pages = PAGES.filter((page) => page.name && (page.at === "enqueue" ? mayEnqueue() : mayRead()));
  $("nav").replaceChildren(...pages.map((page) => el("li", {}, el("a", {href: `#/${page.at}`, "data-at": page.at, "aria-keyshortcuts": `g ${page.key}`}, page.name))));
}

// ---- keys

let isGoing = false;

function key(event) {
  const within = event.target.closest?.("input, textarea, select, dialog[open]");
  if (event.ctrlKey || event.metaKey || event.altKey || within) return;
  const going = isGoing;
  isGoing = false;
  if (going) {
    const page = PAGES.find((each) => each.key === event.key);
    if (page) { event.preventDefault(); location.hash = `#/${page.at}`; }
  } else if (event.key === "g") {
    isGoing = true;
    setTimeout(() => { isGoing = false; }, 1500);
  } else if (event.key === "/") {
    event.preventDefault();
    $("find-text").focus();
  } else if (event.key === "?") {
    event.preventDefault();
    $("help").showModal();
  }
}

function help() {
  const rows = [["?", "these keys"], ["/", "search: a run's id, a batch's or a queue's name, or text of an error"], ...PAGES.filter((page) => page.key).map((page) => [`g ${page.key}`, page.name]), ["Esc", "closes a dialog"]];
  $("help-keys").replaceChildren(...rows.map(([name, does]) => el("tr", {}, el("th", {scope: "row"}, name.split(" ").map((one) => [el("kbd", {}, one), " "]).flat()), el("td", {}, does))));
}

// ---- searching, from everywhere

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

async function find(event) {
  event.preventDefault();
  const text = $("find-text").value.trim();
  if (batchPath(text)) { location.hash = batchPath(text); return; }
  if (live.queues?.some((each) => each.queue === text)) { location.hash = path("queue", text); return; }
  if (!ID.test(text)) { location.hash = text ? `#/runs?error=${encodeURIComponent(text)}` : "#/runs"; return; }
  try {
    const its = await runFind(text.toLowerCase());
    if (its === null) say("No queue has that run: it is forgotten, or never was");
    else location.hash = path("run", its, text.toLowerCase());
  } catch (failure) { say(failure.whole ?? failure.message); }
}

// ---- the token

/** Who has closed the dialog is told what is missing. */
function tokenMissing() {
  fail(new Failure(401, {code: "token", message: "This server wants a token. The button Token asks for it."}));
  if (shown) return;
  $("main").replaceChildren(el("h1", {}, "No token"), el("p", {}, "This server wants a token of its file."), el("p", {}, el("button", {type: "button", class: "main", click: () => tokenAsk(null)}, "Give a token")));
}

/** What a new token may is another page than that of the old one. What is typed in stays where it may as much. */
async function tokenGiven() {
  if (!session.version) return;
  const before = JSON.stringify(session);
  for (;;) {
    try { await sessionRead(); break; } catch (failure) { fail(failure); }
    await new Promise((resolve) => setTimeout(resolve, 3000));
  }
  if (JSON.stringify(session) === before) return;
  location.reload();
  await new Promise(() => {});
}

function tokenAsk(failure) {
  const dialog = $("token");
  if (failure && session.version) fail(new Failure(401, {code: "token", message: "The server wants a token"}));
  if (failure && token.get()) $("token-text").textContent = "The server does not know that token. It is kept until this tab is closed.";
  return new Promise((resolve) => {
    const end = () => { dialog.onclose = null; resolve(token.get()); };
    $("token-form").onsubmit = (event) => {
      event.preventDefault();
      token.set($("token-value").value.trim());
      $("token-value").value = "";
      dialog.close();
      end();
      if (!failure) location.reload();
    };
    $("token-forget").onclick = () => { token.forget(); dialog.close(); location.reload(); };
    // Without a token nothing comes: who asked waits, and the page begins anew with the one that is given later.
    dialog.onclose = () => { if (failure) tokenMissing(); else resolve(null); };
    dialog.showModal();
  });
}

// ---- dark or light

function isDark() {
  const kept = document.documentElement.dataset.theme;
  return kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function themeLabel() {
  $("theme").textContent = isDark() ? "Light" : "Dark";
  $("theme").title = `Show the page in ${isDark() ? "light" : "dark"} colours`;
}

function themeTurn() {
  const theme = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("culex-theme", theme); } catch { /* for this page alone */ }
  themeLabel();
}

// ---- whether what is shown is of now

function status({failure, at, way}) {
  const banner = $("banner");
  const text = failure ? `${failure.whole ?? failure.message}${at ? ` — what is shown is old: of ${clock(at)}` : ""}` : "";
  const label = !failure ? way : at ? "old" : "away";
  document.body.classList.toggle("is-old", Boolean(failure));
  if ($("live").textContent !== label) $("live").textContent = label;
  $("live").className = `live ${label}`;
  banner.hidden = !failure;
  if (banner.textContent !== text) banner.textContent = plain(text);
}

/** Whether the server has told who looks. Until then this is the page of an operator, whom the server refuses what he may not. */
async function known() {
  try { await sessionRead(); } catch (failure) { fail(failure); return false; }
  nav();
  $("footer").replaceChildren(`Culex ${session.version}${session.readOnly ? ", read-only" : ""}. `, el("a", {href: "api/v1/openapi.json"}, "API"));
  return true;
}

async function start() {
  help();
  themeLabel();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themeLabel);
  $("theme").addEventListener("click", themeTurn);
  $("token-ask").addEventListener("click", () => tokenAsk(null));
  $("help-open").addEventListener("click", () => $("help").showModal());
  $("find").addEventListener("submit", find);
  $("skip").addEventListener("click", (event) => { event.preventDefault(); $("main").focus(); });
  document.addEventListener("keydown", key);
  onToken(tokenAsk, tokenGiven);
  nav();
  listen(status);
  history.scrollRestoration = "manual";
  window.addEventListener("hashchange", show);
  const isKnown = await known();
  show();
  if (!isKnown) {
    do await new Promise((resolve) => setTimeout(resolve, 3000)); while (!await known());
    if (!mayOperate()) show();
  }
  (mayRead() ? begin : watch)();
}

start();
