// Puts the widget on the page, as the attributes of its <script> say.
const script = document.currentScript;
const { dataset } = script;
const server = (dataset.server || new URL(script.src).origin).replace(/\/$/, "");

/** Light or dark, as set or as the system is. */
function followTheme(host) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const dark = dataset.theme === "dark" || (dataset.theme !== "light" && system.matches);
    host.setAttribute("data-theme", dark ? "dark" : "light");
  };
  apply();
  system.addEventListener("change", apply);
}

function start() {
  if (document.querySelector("advisor-widget")) return;
  const host = document.createElement("advisor-widget");
  const spoken = language(dataset.language);
  host.lang = spoken === "zh" ? "zh-CN" : "en";
  const root = host.attachShadow({ mode: "open" });
  const sheet = new CSSStyleSheet(); // a style that no Content-Security-Policy forbids
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];
  followTheme(host);
  if (dataset.position === "left") host.setAttribute("data-position", "left");
  if (/^#[0-9a-f]{3,8}$/i.test(dataset.accent || "")) host.style.setProperty("--accent", dataset.accent);
  const service = new Service(server, dataset.tokenUrl, dataset.token);
  const panel = new Panel({ service, words: WORDS[spoken], title: dataset.title });
  root.append(...panel.elements);
  document.body.append(host);
  panel.start();
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
