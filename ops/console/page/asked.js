// What is asked for again every few seconds.
import {el} from "./dom.js";
import {wrongTell} from "./runs.js";

/** Asks with a signal, and again after each answer; `node` keeps what it shows while nobody answers, marked as old. take(answer) is true when there is no more to come. */
export function asked(ask, node, take, ms = 3000) {
  const control = new AbortController(), wrong = el("div");
  let timer, turn = 0;
  node.hidden = true;
  async function load() {
    const own = ++turn;
    clearTimeout(timer);
    try {
      const answer = await ask(control.signal);
      if (own !== turn) return;
      node.hidden = false;
      node.classList.remove("old");
      wrong.replaceChildren();
      if (take(answer)) return;
    } catch (failure) {
      if (failure.name === "AbortError" || own !== turn) return;
      if (!failure.isAway) node.hidden = true;
      node.classList.add("old");
      if (node.hidden) wrongTell(wrong, failure);
    }
    if (!control.signal.aborted) timer = setTimeout(load, ms);
  }
  load();
  return {wrong, load, end: () => { control.abort(); clearTimeout(timer); }};
}
