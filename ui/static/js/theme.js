// Light or dark, as chosen here or as the system is; and the language of the interface.
import { $$, advisor, on } from "./dom.js";

const system = matchMedia("(prefers-color-scheme: dark)");
const changed = [];

export const dark = () => document.documentElement.dataset.theme === "dark";
export const onThemeChange = (action) => changed.push(action);

export function applyTheme() {
  const chosen = localStorage.getItem("advisor_theme");
  const wanted = ["dark", "light"].includes(chosen) ? chosen : system.matches ? "dark" : "light";
  document.documentElement.dataset.theme = wanted;
  // Gradio's own class; it is set again only where it differs, since the page watches it.
  if (document.body.classList.contains("dark") !== (wanted === "dark")) document.body.classList.toggle("dark", wanted === "dark");
}

function switchTheme() {
  applyTheme();
  for (const action of changed) action();
}

/** Labels and placeholders that the page brings in both languages. */
export function speak() {
  const suffix = advisor.language === "zh" ? "Zh" : "En";
  for (const element of $$("[data-label-en]")) element.setAttribute("aria-label", element.dataset[`label${suffix}`]);
  for (const element of $$("[data-placeholder-en]")) element.placeholder = element.dataset[`placeholder${suffix}`];
}

system.addEventListener("change", switchTheme);
on("click", "#theme", () => {
  localStorage.setItem("advisor_theme", dark() ? "light" : "dark");
  switchTheme();
});
on("click", "#language", () => {
  document.cookie = `advisor_language=${advisor.language === "zh" ? "en" : "zh"}; path=/; max-age=31536000; samesite=lax`;
  const url = new URL(location.href);
  url.searchParams.delete("lang");
  location.replace(url);
});
