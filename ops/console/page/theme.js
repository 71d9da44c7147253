// Runs before the first paint, so that the page does not flash in the other colours.
"use strict";
{
  let kept = null;
  try { kept = localStorage.getItem("culex-theme"); } catch { /* the browser keeps nothing */ }
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
}
