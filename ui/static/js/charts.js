// Charts, drawn by Plotly when they come into view, in the colours of the theme.
import { $$, make, problem, words } from "./dom.js";
import { dark, onThemeChange } from "./theme.js";

const COLOURS = { dark: ["#5eead4", "#fbbf24", "#93c5fd", "#f9a8d4"], light: ["#0f766e", "#b45309", "#1d4ed8", "#be185d"] };
const NARROW = 420;
const LONGEST_NAME = 18;

let plotly = null;
const loadPlotly = () => (plotly ||= new Promise((resolve, reject) => {
  const script = make("script", { src: "/ui/plotly.js" });
  script.onload = () => resolve(window.Plotly);
  script.onerror = () => { plotly = null; reject(new Error(words.network)); };
  document.head.append(script);
}));

const short = (name) => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name);

async function draw(place) {
  const chart = JSON.parse(place.dataset.figure);
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  const axis = { gridcolor: colour("--line"), zerolinecolor: colour("--line"), linecolor: colour("--line") };
  const narrow = place.clientWidth < NARROW;
  const layout = {
    ...chart.layout,
    title: { ...chart.layout.title, font: { size: 15 }, x: 0, xref: "paper", xanchor: "left" },
    font: { family: getComputedStyle(document.body).fontFamily, size: narrow ? 11 : 12, color: colour("--text") },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    colorway: COLOURS[dark() ? "dark" : "light"],
    margin: { l: 8, r: 12, t: 56, b: 8, pad: 4 }, hovermode: "closest",
    legend: { orientation: "h", y: -0.25 },
    xaxis: { ...axis, ...chart.layout.xaxis }, yaxis: { ...axis, ...chart.layout.yaxis },
  };
  for (const shape of layout.shapes || []) shape.line = { ...shape.line, color: colour("--warn") };
  if (narrow) for (const trace of chart.data) if (trace.orientation === "h") trace.y = trace.y.map(short);
  const drawn = await loadPlotly();
  await drawn.react(place, chart.data, layout, { displayModeBar: false, responsive: true });
  place.dataset.drawn = "1";
}

const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    draw(target).catch((error) => target.replaceChildren(problem(error)));
  }
}, { rootMargin: "800px", scrollMargin: "800px" });

/** Draw the charts that have come to the page, once they are near the visible part. */
export function drawCharts() {
  for (const place of $$("[data-figure]:not([data-seen])")) { place.dataset.seen = "1"; seen.observe(place); }
}

onThemeChange(() => { for (const place of $$("[data-drawn]")) draw(place); });
