// Calculators, on their page and in the panel: recalculate as a form changes; links, exports, scenarios side by side.
import { $, $$, copy, download, note, on, problem, words } from "./dom.js";
import { json, load } from "./requests.js";

const PAUSE_MS = 250;
const MAX_SCENARIOS = 4;
const timers = new WeakMap(); // form -> timer
const latest = new WeakMap(); // place of a result -> number of its last request
const runs = new WeakMap(); // calculator -> what it last said
const scenarios = new WeakMap(); // calculator -> inputs that are kept

const boxOf = (element) => element.closest("[data-tool]");
const formOf = (box) => $("form.recalculate", box);
const fieldsOf = (form) => $$("[name]", form);

function inputsOf(form) {
  const values = {};
  for (const field of fieldsOf(form)) {
    const value = field.type === "checkbox" ? field.checked : field.value.trim();
    if (value !== "") values[field.name] = value;
  }
  return values;
}

const addressOf = (box) => `/calculators?${new URLSearchParams({ tool: box.dataset.tool, inputs: JSON.stringify(inputsOf(formOf(box))) })}`;

async function recalculate(form) {
  const box = boxOf(form);
  const place = $(".result", box);
  if (box.matches(".calculator")) history.replaceState(null, "", addressOf(box));
  const number = (latest.get(place) || 0) + 1;
  latest.set(place, number);
  place.setAttribute("aria-busy", "true");
  try {
    const result = await json(`/ui/calculators/${box.dataset.tool}`, { inputs: inputsOf(form) });
    if (latest.get(place) !== number) return; // a later change was faster
    show(box, result);
  } catch (error) {
    place.replaceChildren(problem(error));
  }
  place.removeAttribute("aria-busy");
}

function show(box, result) {
  const place = $(".result", box);
  const open = new Map($$("details", place).map((details) => [details.className, details.open]));
  place.innerHTML = result.html;
  for (const details of $$("details", place)) details.open = open.get(details.className) ?? details.open;
  runs.set(box, result);
  for (const field of fieldsOf(formOf(box))) {
    if (result.fields.includes(field.name)) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
    if (result.filled[field.name] && "placeholder" in field) field.placeholder = result.filled[field.name];
  }
}

function fill(form, inputs) {
  for (const field of fieldsOf(form)) {
    const value = inputs[field.name];
    if (field.type === "checkbox") field.checked = value === undefined ? field.dataset.default === "true" : Boolean(value);
    else if (field.tagName === "SELECT") field.value = value !== undefined ? String(value) : field.dataset.default ?? "";
    else field.value = value === undefined ? "" : Array.isArray(value) ? value.join(", ") : String(value);
  }
  for (const details of $$("details", form)) {
    if (fieldsOf(details).some((field) => inputs[field.name] !== undefined)) details.open = true;
  }
  return recalculate(form);
}

/** What a calculator last said; calculates where it has said nothing yet. */
async function current(box) {
  if (!runs.get(box)) await recalculate(formOf(box));
  return runs.get(box);
}

/** Prices have changed: calculate anew what is shown. */
export function recalculateAll() {
  for (const form of $$(".calculator form.recalculate")) if (Object.keys(inputsOf(form)).length) recalculate(form);
}

function keep(box, kept) {
  scenarios.set(box, kept);
  const place = $(".scenarios", box);
  if (kept.length) load(place, `/ui/calculators/${box.dataset.tool}/compare`, { scenarios: kept });
  else place.replaceChildren();
}

function csvOf(table) {
  const cell = (one) => {
    const value = one.textContent.trim().replace(/^([=+@\t\r]|-(?![\d.]))/, "'$1"); // never a formula in a spreadsheet
    return /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  };
  return `\ufeff${$$("tr", table).map((row) => [...row.cells].map(cell).join(",")).join("\r\n")}\r\n`;
}

on("input", "form.recalculate", (form) => {
  clearTimeout(timers.get(form));
  timers.set(form, setTimeout(() => recalculate(form), PAUSE_MS));
});
on("submit", "form.recalculate", (form, event) => { event.preventDefault(); return recalculate(form); });
on("click", ".preset", (chip) => fill(formOf(boxOf(chip)), JSON.parse(chip.dataset.inputs)));
on("click", ".chip.clear", (chip) => fill(formOf(boxOf(chip)), {}));
on("click", "[data-open-calculator]", (link) => { link.href = addressOf(boxOf(link)); });
on("click", ".csv", (button) => {
  const table = $("table", button.closest(".actions").previousElementSibling);
  download(`${button.dataset.file}.csv`, "text/csv", csvOf(table));
});
on("click", ".export .share", async (button) => {
  await copy(location.origin + addressOf(boxOf(button)));
  note(button, words.copied);
});
on("click", ".export .json", async (button) => {
  const { run } = await current(boxOf(button));
  if (run) download(`${run.tool}.json`, "application/json", JSON.stringify(run, null, 2));
  else note(button, words.no_result);
});
on("click", ".export .ask-about", async (button) => {
  const { question } = await current(boxOf(button));
  location.href = `/?q=${encodeURIComponent(question || "")}`;
});
on("click", ".export .keep", (button) => {
  const box = boxOf(button);
  const kept = scenarios.get(box) || [];
  if (kept.length >= MAX_SCENARIOS) note(button, words.too_many);
  else keep(box, [...kept, inputsOf(formOf(box))]);
});
on("click", ".scenarios .remove", (button) => {
  const box = boxOf(button);
  keep(box, scenarios.get(box).filter((_, index) => index !== Number(button.dataset.index)));
});
