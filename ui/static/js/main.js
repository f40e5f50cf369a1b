// Starts the page's script, and follows the changes that Gradio makes to the page.
import { $ } from "./dom.js";
import { drawCharts } from "./charts.js";
import { startChat, watchAnswer } from "./chat.js";
import { loadAll } from "./requests.js";
import { applyTheme, speak } from "./theme.js";
import "./calculators.js";
import "./history.js";
import "./library.js";
import "./panel.js";
import "./review.js";

const started = new Set();

/** Do something when an element is there for the first time. */
function once(selector, action) {
  if (started.has(selector) || !$(selector)) return;
  started.add(selector);
  action();
}

// Gradio builds the page after this script has run, and rebuilds parts of it with every answer.
function changed() {
  applyTheme();
  loadAll();
  once("#heading header", speak);
  once("#composer", () => { speak(); startChat(); });
  drawCharts();
  watchAnswer();
}
new MutationObserver(changed).observe(document.documentElement, {
  childList: true, subtree: true, attributes: true, attributeFilter: ["class"],
});
changed();
