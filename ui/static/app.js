// What the pages do in the browser: loads fragments, sends questions, opens sources, recalculates forms, draws charts.
(() => {
  "use strict";
  const advisor = window.advisor;
  const words = advisor.words;
  const $ = (selector, root = document) => root.querySelector(selector);
  const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

  // --- requests -------------------------------------------------------------------------------------------------
  async function request(url, options = {}) {
    let response;
    try {
      response = await fetch(url, { ...options, headers: { "x-advisor": "1", ...options.headers } });
    } catch {
      throw new Error(words.network);
    }
    if (response.ok) return response;
    const body = await response.json().catch(() => ({}));
    throw new Error(typeof body.detail === "string" ? body.detail : `${words.failed} (${response.status})`);
  }
  const text = async (url, options) => (await request(url, options)).text();
  const json = async (url, body, method = "POST") =>
    (await request(url, { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) })).json();

  function problem(error) {
    const line = document.createElement("p");
    line.className = "error";
    line.setAttribute("role", "alert");
    line.textContent = error.message;
    return line;
  }

  // --- fragments ------------------------------------------------------------------------------------------------
  const conversation = () => new URLSearchParams(location.search).get("c") || "";

  async function load(place, url) {
    place.setAttribute("aria-busy", "true");
    try {
      place.innerHTML = await text(url);
    } catch (error) {
      place.replaceChildren(problem(error));
    }
    place.removeAttribute("aria-busy");
    place.dispatchEvent(new CustomEvent("advisor:loaded", { bubbles: true }));
  }
  function loadAll() {
    for (const place of $$("[data-load]")) {
      const url = new URL(place.dataset.load, location.origin);
      if (place.hasAttribute("data-with-query")) url.search = location.search;
      else if (conversation()) url.searchParams.set("c", conversation());
      delete place.dataset.load;
      load(place, url);
    }
  }
  function speak() {
    const language = advisor.language;
    for (const element of $$("[data-label-en]")) element.setAttribute("aria-label", element.dataset[`label${language === "zh" ? "Zh" : "En"}`]);
    for (const element of $$("[data-placeholder-en]")) element.placeholder = element.dataset[`placeholder${language === "zh" ? "Zh" : "En"}`];
  }

  // --- theme and language ---------------------------------------------------------------------------------------
  const dark = () => document.documentElement.dataset.theme === "dark";
  function applyTheme() {
    const chosen = localStorage.getItem("advisor_theme") || new URLSearchParams(location.search).get("__theme");
    const wanted = chosen === "dark" || chosen === "light" ? chosen : matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    document.documentElement.dataset.theme = wanted;
    if (document.body && document.body.classList.contains("dark") !== (wanted === "dark")) document.body.classList.toggle("dark", wanted === "dark");
  }
  applyTheme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { applyTheme(); redrawCharts(); });

  // --- chat -----------------------------------------------------------------------------------------------------
  let asking = false;
  function setAsking(now) {
    asking = now;
    if ($("#send")) $("#send").hidden = now;
    if ($("#stop")) $("#stop").hidden = !now;
  }
  function ask(question, replace = null) {
    question = question.trim();
    if (!question || asking || !advisor.chat) return;
    setAsking(true);
    const before = $("#live .turn");
    if (before) before.dataset.old = "";
    advisor.sentAt = performance.now();
    delete advisor.firstTextMs;
    delete advisor.firstStageMs;
    advisor.chat.dispatchEvent(new CustomEvent("advisor:ask", { detail: { text: question, conversation: conversation(), replace } }));
  }
  function stop() {
    advisor.chat.dispatchEvent(new CustomEvent("advisor:stop"));
    const turn = $("#live .turn.working");
    if (turn) {
      turn.classList.replace("working", "stopped");
      turn.removeAttribute("aria-busy");
      $(".stages", turn)?.remove();
      const note = document.createElement("p");
      note.className = "note";
      note.setAttribute("role", "status");
      note.textContent = words.stopped;
      turn.append(note);
    }
    setAsking(false);
    $("#question")?.focus();
  }
  function watchAnswer() {
    const turn = $("#live .turn");
    if (!turn || !asking || "old" in turn.dataset) return;
    if (advisor.firstStageMs === undefined) advisor.firstStageMs = performance.now() - advisor.sentAt;
    if (advisor.firstTextMs === undefined && $(".answer .text, .answer .error", turn)?.textContent.trim()) advisor.firstTextMs = performance.now() - advisor.sentAt;
    if (turn.classList.contains("working")) return scrollToEnd();
    setAsking(false);
    if (turn.dataset.conversation && turn.dataset.conversation !== conversation()) history.replaceState(null, "", `/?c=${turn.dataset.conversation}`);
    refreshHistory();
    $$("#past .follow-ups").forEach((group) => group.remove());
    scrollToEnd(turn);
  }
  function scrollToEnd(turn) {
    const box = $("#chat-column");
    if (!box) return;
    const target = turn || $("#live .turn");
    if (target) target.scrollIntoView({ block: turn ? "start" : "nearest", behavior: "instant" });
  }
  function refreshHistory() {
    const list = $("#history-list");
    if (list) load(list, `/ui/history?c=${conversation()}`);
    const link = $("#export");
    if (link) {
      if (conversation()) link.href = `/ui/conversations/${conversation()}/export`;
      else link.removeAttribute("href");
    }
  }
  function openConversation(id) {
    if (asking) stop();
    history.pushState(null, "", id ? `/?c=${id}` : "/");
    showConversation();
  }
  function showConversation() {
    const query = conversation() ? `?c=${conversation()}` : "";
    advisor.live?.replaceChildren();
    load(advisor.chat, `/ui/conversation${query}`);
    load(advisor.panel, `/ui/panel${query}`);
    load($("#attachments"), `/ui/attachments${query}`);
    document.body.classList.remove("panel-open", "history-open");
    refreshHistory();
    $("#question")?.focus();
  }
  window.addEventListener("popstate", () => { if (advisor.chat) showConversation(); });

  const turnOf = (element) => element.closest(".turn");
  const questionOf = (turn) => $(".question p", turn).textContent;
  const turnNumber = (turn) => Number(turn.dataset.turn) || null;
  function note(element, message) {
    const place = element.closest(".actions")?.querySelector(".note");
    if (!place) return;
    place.textContent = message;
    setTimeout(() => { if (place.textContent === message) place.textContent = ""; }, 6000);
  }

  async function openMark(turn, mark) {
    const panel = $("#panel-column");
    if (turn && turn.dataset.answer && $("[data-answer]", panel)?.dataset.answer !== turn.dataset.answer) {
      await load(advisor.panel, `/ui/panel?c=${turn.dataset.conversation}&answer=${turn.dataset.answer}`);
    }
    document.body.classList.add("panel-open");
    const card = mark ? $(`#mark-${mark}`, panel) : $(".card", panel);
    if (!card) return;
    $$(".card.open", panel).forEach((other) => other.classList.remove("open"));
    card.classList.add("open");
    card.scrollIntoView({ block: "start", behavior: "instant" });
    card.focus({ preventScroll: true });
    hydrate();
  }
  function dialog(content, label) {
    const box = document.createElement("dialog");
    const close = document.createElement("button");
    close.type = "button";
    close.className = "icon close";
    close.textContent = "×";
    close.setAttribute("aria-label", words.cancel);
    close.addEventListener("click", () => box.close());
    box.setAttribute("aria-label", label || "");
    box.append(close, content);
    box.addEventListener("close", () => box.remove());
    document.body.append(box);
    box.showModal();
    return box;
  }
  async function openDocument(button) {
    const { document: id, start = 0, end = 0 } = button.dataset;
    const body = document.createElement("div");
    body.className = "document-body";
    const box = dialog(body, button.textContent);
    box.classList.add("wide");
    await load(body, `/ui/documents/${encodeURIComponent(id)}?start=${start}&end=${end}&c=${conversation()}`);
    const span = $("#document-span", body);
    if (span) { span.scrollIntoView({ block: "center", behavior: "instant" }); span.focus({ preventScroll: true }); }
  }
  function confirmed(question, action = words.ok) {
    return prompted(question, { action }).then((value) => value !== null);
  }
  function prompted(question, { action = words.ok, value, multiline = false } = {}) {
    return new Promise((resolve) => {
      const form = document.createElement("form");
      form.method = "dialog";
      const label = document.createElement("label");
      label.textContent = question;
      form.append(label);
      let field = null;
      if (value !== undefined) {
        field = document.createElement(multiline ? "textarea" : "input");
        field.id = "prompted";
        field.value = value;
        label.htmlFor = "prompted";
        form.append(field);
      }
      const buttons = document.createElement("p");
      buttons.className = "buttons";
      for (const [kind, name] of [["cancel", words.cancel], ["primary", action]]) {
        const button = document.createElement("button");
        button.type = kind === "cancel" ? "button" : "submit";
        button.className = kind;
        button.textContent = name;
        if (kind === "cancel") button.addEventListener("click", () => box.close());
        buttons.append(button);
      }
      form.append(buttons);
      let answer = null;
      form.addEventListener("submit", () => { answer = field ? field.value : ""; });
      const box = dialog(form, question);
      box.addEventListener("close", () => resolve(answer));
      (field || $(".primary", box)).focus();
    });
  }

  async function rate(button, rating) {
    const turn = turnOf(button);
    let reason = "";
    if (rating === "down") {
      const given = await prompted(words.reason, { value: "", multiline: true, action: words.reason_send });
      if (given === null) return;
      reason = given;
    }
    try {
      await json("/ui/feedback", { conversation: turn.dataset.conversation, answer: turn.dataset.answer, rating, reason });
      $$(".icon.up, .icon.down", turn).forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      note(button, words.thanks);
    } catch (error) {
      note(button, error.message);
    }
  }
  function edit(button) {
    const turn = turnOf(button);
    const box = $(".question", turn);
    if ($("textarea", box)) return;
    const form = document.createElement("form");
    const field = document.createElement("textarea");
    field.value = questionOf(turn);
    field.setAttribute("aria-label", button.getAttribute("aria-label"));
    const send = Object.assign(document.createElement("button"), { type: "submit", className: "primary", textContent: words.save_ask });
    const cancel = Object.assign(document.createElement("button"), { type: "button", className: "cancel", textContent: words.cancel });
    form.append(field, cancel, send);
    const before = [...box.childNodes];
    const restore = () => box.replaceChildren(...before);
    cancel.addEventListener("click", restore);
    form.addEventListener("submit", (event) => { event.preventDefault(); const value = field.value; restore(); ask(value, turnNumber(turn)); });
    field.addEventListener("keydown", (event) => { if (event.key === "Escape") restore(); if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); form.requestSubmit(); } });
    box.replaceChildren(form);
    field.focus();
  }

  // --- forms ----------------------------------------------------------------------------------------------------
  function inputsOf(form) {
    const values = {};
    for (const field of $$("[name]", form)) {
      const value = field.type === "checkbox" ? field.checked : field.value.trim();
      if (value !== "") values[field.name] = value;
    }
    return values;
  }
  const timers = new WeakMap();
  const runs = new WeakMap();
  function recalculateSoon(form) {
    clearTimeout(timers.get(form));
    timers.set(form, setTimeout(() => recalculate(form), 250));
  }
  async function recalculate(form) {
    const box = form.closest("[data-tool]");
    const place = $(".result", box);
    const inputs = inputsOf(form);
    if (box.classList.contains("calculator")) {
      const query = new URLSearchParams({ tool: box.dataset.tool, inputs: JSON.stringify(inputs) });
      history.replaceState(null, "", `/calculators?${query}`);
    }
    const number = (timers.get(place) || 0) + 1;
    timers.set(place, number);
    place.setAttribute("aria-busy", "true");
    try {
      const result = await json(`/ui/calculators/${box.dataset.tool}`, { inputs });
      if (timers.get(place) !== number) return; // a later change was faster
      const folded = $("details", place) && !$("details", place).open;
      place.innerHTML = result.html;
      if (folded && $("details", place)) $("details", place).open = false;
      runs.set(box, result);
      for (const field of $$("[name]", form)) {
        const wrong = result.fields.includes(field.name);
        if (wrong) field.setAttribute("aria-invalid", "true");
        else field.removeAttribute("aria-invalid");
        if (result.filled[field.name] && "placeholder" in field) field.placeholder = result.filled[field.name];
      }
      hydrate();
    } catch (error) {
      place.replaceChildren(problem(error));
    }
    place.removeAttribute("aria-busy");
  }
  function fill(form, inputs) {
    for (const field of $$("[name]", form)) {
      const value = inputs[field.name];
      if (field.type === "checkbox") field.checked = value === undefined ? field.dataset.default === "true" : Boolean(value);
      else if (field.tagName === "SELECT") field.value = value !== undefined ? String(value) : field.dataset.default ?? "";
      else field.value = value === undefined ? "" : Array.isArray(value) ? value.join(", ") : String(value);
    }
    for (const details of $$("details", form)) if ($$("[name]", details).some((field) => inputs[field.name] !== undefined)) details.open = true;
    recalculate(form);
  }
  const scenarios = new WeakMap();
  async function showScenarios(box) {
    const place = $(".scenarios", box);
    const kept = scenarios.get(box) || [];
    if (!kept.length) { place.replaceChildren(); return; }
    try {
      place.innerHTML = await text(`/ui/calculators/${box.dataset.tool}/compare`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ scenarios: kept }) });
    } catch (error) {
      place.replaceChildren(problem(error));
    }
  }
  function download(name, type, content) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
  function csvOf(table) {
    const cell = (one) => {
      const value = one.textContent.trim().replace(/^([=+@\t\r]|-(?![\d.]))/, "'$1"); // never a formula in a spreadsheet
      return /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
    };
    return `\ufeff${$$("tr", table).map((row) => [...row.cells].map(cell).join(",")).join("\r\n")}\r\n`;
  }

  // --- charts ---------------------------------------------------------------------------------------------------
  let plotly = null;
  const loadPlotly = () => (plotly ||= new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { src: "/ui/plotly.js" });
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => reject(new Error(words.network));
    document.head.append(script);
  }));
  async function draw(place) {
    const chart = JSON.parse(place.dataset.figure);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = { gridcolor: colour("--line"), zerolinecolor: colour("--line"), linecolor: colour("--line") };
    const narrow = place.clientWidth < 420;
    const layout = {
      ...chart.layout,
      title: { ...chart.layout.title, font: { size: 15 }, x: 0, xref: "paper", xanchor: "left" },
      font: { family: getComputedStyle(document.body).fontFamily, size: narrow ? 11 : 12, color: colour("--text") },
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      colorway: dark() ? ["#5eead4", "#fbbf24", "#93c5fd", "#f9a8d4"] : ["#0f766e", "#b45309", "#1d4ed8", "#be185d"],
      margin: { l: 8, r: 12, t: 56, b: 8, pad: 4 }, hovermode: "closest",
      legend: { orientation: "h", y: -0.25 },
      xaxis: { ...axis, ...chart.layout.xaxis }, yaxis: { ...axis, ...chart.layout.yaxis },
    };
    for (const shape of layout.shapes || []) shape.line = { ...shape.line, color: colour("--warn") };
    if (narrow) for (const trace of chart.data) if (trace.orientation === "h") trace.y = trace.y.map((name) => (name.length > 18 ? `${name.slice(0, 17)}…` : name));
    const drawn = await loadPlotly();
    await drawn.react(place, chart.data, layout, { displayModeBar: false, responsive: true });
    place.dataset.drawn = "1";
  }
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) { seen.unobserve(entry.target); draw(entry.target).catch((error) => entry.target.replaceChildren(problem(error))); }
  }, { rootMargin: "800px", scrollMargin: "800px" });
  function redrawCharts() { for (const place of $$("[data-drawn]")) draw(place); }

  function hydrate() {
    for (const place of $$("[data-figure]:not([data-seen])")) { place.dataset.seen = "1"; seen.observe(place); }
  }

  // --- uploads and jobs -----------------------------------------------------------------------------------------
  function upload(url, files, onProgress) {
    return new Promise((resolve, reject) => {
      const form = new FormData();
      for (const file of files) form.append("files", file);
      const sender = new XMLHttpRequest();
      sender.open("POST", url);
      sender.setRequestHeader("x-advisor", "1");
      sender.upload.addEventListener("progress", (event) => onProgress(event.total ? event.loaded / event.total : 0));
      sender.addEventListener("error", () => reject(new Error(words.network)));
      sender.addEventListener("load", () => {
        const body = (() => { try { return JSON.parse(sender.responseText); } catch { return {}; } })();
        if (sender.status < 300) resolve(body);
        else reject(new Error(typeof body.detail === "string" ? body.detail : `${words.failed} (${sender.status})`));
      });
      sender.send(form);
    });
  }
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  async function follow(job, place, onDone) {
    for (;;) {
      const state = await (await request(`/ui/jobs/${job}`)).json();
      place.innerHTML = state.html;
      if (state.done) return onDone?.(state);
      await wait(300);
    }
  }
  async function addFiles(files) {
    const place = $("#jobs");
    if (!files.length || !place) return;
    const line = document.createElement("div");
    line.setAttribute("role", "status");
    place.prepend(line);
    try {
      const { job } = await upload("/ui/library/files", files, (share) => { line.textContent = `${words.uploading} ${Math.round(share * 100)}%`; });
      await follow(job, line, () => refreshDocuments());
    } catch (error) {
      line.replaceChildren(problem(error));
    }
  }
  function refreshDocuments() {
    const table = $("#documents");
    if (table) load(table, "/ui/library/documents").then(() => filterRows($("#filter")));
  }
  function filterRows(field) {
    if (!field) return;
    const wanted = field.value.trim().toLowerCase();
    for (const row of $$("#documents tbody tr")) row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
  }
  async function attach(files) {
    const place = $("#attachments");
    const line = document.createElement("p");
    line.className = "note";
    line.setAttribute("role", "status");
    line.textContent = words.uploading;
    place.append(line);
    try {
      const url = `/ui/attachments${conversation() ? `?c=${conversation()}` : ""}`;
      const result = await upload(url, files, () => {});
      if (!conversation()) history.replaceState(null, "", `/?c=${result.conversation}`);
      place.innerHTML = result.html;
    } catch (error) {
      line.replaceChildren(problem(error));
    }
  }

  // --- events ---------------------------------------------------------------------------------------------------
  document.addEventListener("click", async (event) => {
    const on = (selector) => event.target.closest(selector);
    let hit;
    if ((hit = on(".turn .mark[data-mark]"))) return openMark(turnOf(hit), hit.dataset.mark);
    if ((hit = on(".show-panel"))) return openMark(turnOf(hit), null);
    if ((hit = on("#open-panel"))) return document.body.classList.toggle("panel-open");
    if ((hit = on("#close-panel"))) return document.body.classList.remove("panel-open");
    if ((hit = on("#open-history"))) return document.body.classList.toggle("history-open");
    if ((hit = on("[data-document]"))) return openDocument(hit);
    if ((hit = on(".ask[data-text]"))) return ask(hit.dataset.text);
    if ((hit = on("#stop"))) return stop();
    if ((hit = on("#new-chat"))) { event.preventDefault(); return openConversation(""); }
    if ((hit = on("#history-list a[data-conversation]")) && !event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); return openConversation(hit.dataset.conversation); }
    if ((hit = on("#history-list .icon.delete"))) {
      const id = hit.closest("li").querySelector("a").dataset.conversation;
      if (!(await confirmed(words.confirm_delete, words.delete))) return;
      await request(`/ui/conversations/${id}`, { method: "DELETE" });
      return id === conversation() ? openConversation("") : refreshHistory();
    }
    if ((hit = on("#history-list .icon.rename"))) {
      const link = hit.closest("li").querySelector("a");
      const title = await prompted(words.rename, { value: link.firstChild.textContent });
      if (!title) return;
      await json(`/ui/conversations/${link.dataset.conversation}`, { title }, "PATCH");
      return refreshHistory();
    }
    if ((hit = on(".delete-all"))) {
      if (!(await confirmed(words.confirm_delete_all, words.delete))) return;
      await request("/ui/conversations", { method: "DELETE" });
      return openConversation("");
    }
    if ((hit = on("#print"))) return window.print();
    if ((hit = on(".turn .icon.edit"))) return edit(hit);
    if ((hit = on(".turn .icon.retry"))) { const turn = turnOf(hit); return ask(questionOf(turn), turnNumber(turn)); }
    if ((hit = on(".turn .icon.up"))) return rate(hit, "up");
    if ((hit = on(".turn .icon.down"))) return rate(hit, "down");
    if ((hit = on(".turn .icon.copy"))) {
      const copied = $(".text", turnOf(hit)).cloneNode(true);
      $$(".mark", copied).forEach((mark) => { mark.textContent = `[${mark.dataset.mark}]`; });
      await copy(copied.innerText || copied.textContent);
      return note(hit, words.copied);
    }
    if ((hit = on(".csv"))) { const table = hit.closest(".actions").previousElementSibling; return download(`${hit.dataset.file}.csv`, "text/csv", csvOf(table)); }
    if ((hit = on(".preset"))) return fill($("form.recalculate", hit.closest("[data-tool]")), JSON.parse(hit.dataset.inputs));
    if ((hit = on(".chip.clear"))) return fill($("form.recalculate", hit.closest("[data-tool]")), {});
    if ((hit = on(".export .share"))) { await copy(location.href); return note(hit, words.copied); }
    if ((hit = on(".export .json"))) { const run = await current(hit); return run && download(`${run.tool}.json`, "application/json", JSON.stringify(run, null, 2)); }
    if ((hit = on(".export .ask-about"))) { const box = hit.closest("[data-tool]"); await current(hit); location.href = `/?q=${encodeURIComponent(runs.get(box)?.question || "")}`; return; }
    if ((hit = on(".export .keep"))) {
      const box = hit.closest("[data-tool]");
      const kept = scenarios.get(box) || [];
      if (kept.length >= 4) return note(hit, words.too_many);
      scenarios.set(box, [...kept, inputsOf($("form.recalculate", box))]);
      return showScenarios(box);
    }
    if ((hit = on(".scenarios .remove"))) {
      const box = hit.closest("[data-tool]");
      scenarios.set(box, scenarios.get(box).filter((_, index) => index !== Number(hit.dataset.index)));
      return showScenarios(box);
    }
    if ((hit = on("[data-open-calculator]"))) {
      const box = hit.closest("[data-tool]");
      hit.href = `/calculators?${new URLSearchParams({ tool: box.dataset.tool, inputs: JSON.stringify(inputsOf($("form", box))) })}`;
      return;
    }
    if ((hit = on("#language"))) {
      document.cookie = `advisor_language=${advisor.language === "zh" ? "en" : "zh"}; path=/; max-age=31536000; samesite=lax`;
      const url = new URL(location.href);
      url.searchParams.delete("lang");
      location.replace(url);
      return;
    }
    if ((hit = on("#theme"))) { localStorage.setItem("advisor_theme", dark() ? "light" : "dark"); applyTheme(); return redrawCharts(); }
    if ((hit = on("[data-delete-document]"))) {
      if (!(await confirmed(`${words.confirm_delete} ${hit.dataset.title}`, words.delete))) return;
      try { await request(`/ui/library/documents/${encodeURIComponent(hit.dataset.deleteDocument)}`, { method: "DELETE" }); } catch (error) { $("#jobs").prepend(problem(error)); }
      return refreshDocuments();
    }
    if ((hit = on("[data-fragment]"))) { event.preventDefault(); const place = $(hit.dataset.into); await load(place, hit.dataset.fragment); place.scrollIntoView({ block: "nearest" }); }
  });
  async function current(button) {
    const box = button.closest("[data-tool]");
    if (!runs.get(box)) await recalculate($("form.recalculate", box));
    return runs.get(box)?.run;
  }
  async function copy(value) {
    try {
      await navigator.clipboard.writeText(value);
    } catch {
      const field = Object.assign(document.createElement("textarea"), { value });
      document.body.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
  }

  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (form.id === "composer") {
      event.preventDefault();
      const field = $("#question");
      if (asking || !field.value.trim()) return;
      ask(field.value);
      field.value = "";
      grow(field);
    } else if (form.matches("form.recalculate")) {
      event.preventDefault();
      recalculate(form);
    } else if (form.matches("form[data-get]")) {
      event.preventDefault();
      load($(form.dataset.into), `${form.dataset.get}?${new URLSearchParams(new FormData(form))}`);
    } else if (form.matches("form[data-job]")) {
      event.preventDefault();
      const place = $(form.dataset.into);
      const line = document.createElement("div");
      line.setAttribute("role", "status");
      place.prepend(line);
      try {
        const { job } = await json(form.dataset.job, Object.fromEntries(new FormData(form)));
        await follow(job, line, (state) => { refreshDocuments(); if (state.open) load($("#run"), state.open); if ($("#runs")) load($("#runs"), "/ui/evaluations/runs"); });
      } catch (error) {
        line.replaceChildren(problem(error));
      }
    }
  });
  document.addEventListener("input", (event) => {
    if (event.target.id === "question") grow(event.target);
    if (event.target.id === "filter") filterRows(event.target);
    const form = event.target.closest?.("form.recalculate");
    if (form) recalculateSoon(form);
  });
  document.addEventListener("change", async (event) => {
    const field = event.target;
    if (field.id === "attach") { await attach([...field.files]); field.value = ""; }
    if (field.id === "upload") { addFiles([...field.files]); field.value = ""; }
    if (field.id === "price-file" && field.files.length) {
      const place = $("#price-report");
      try { place.innerHTML = (await upload("/ui/library/prices", [...field.files], () => {})).html; } catch (error) { place.replaceChildren(problem(error)); }
      field.value = "";
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.target.id === "question" && event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      $("#composer").requestSubmit();
    }
    if (event.key === "Escape") {
      if (asking) stop();
      else document.body.classList.remove("panel-open", "history-open");
    }
  });
  const dropZone = (event) => event.target.closest?.(".drop");
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      const zone = dropZone(event);
      if (!zone) return;
      event.preventDefault();
      zone.classList.toggle("over", name === "dragover");
      if (name === "drop") addFiles([...event.dataTransfer.files]);
    });
  }
  function grow(field) {
    field.style.height = "auto";
    field.style.height = `${Math.min(field.scrollHeight, 200)}px`;
  }

  // --- start ----------------------------------------------------------------------------------------------------
  // Gradio builds the page after this script has run, and rebuilds parts of it with every answer.
  const started = new Set();
  function once(selector, action) {
    const element = $(selector);
    if (!element || started.has(selector)) return;
    started.add(selector);
    action(element);
  }
  function changed() {
    applyTheme();
    loadAll();
    once("#heading header", speak);
    once("#composer", () => {
      speak();
      refreshHistoryLink();
      const question = new URLSearchParams(location.search).get("q");
      if (question) { $("#question").value = question; grow($("#question")); history.replaceState(null, "", "/"); }
      if (matchMedia("(min-width: 700px)").matches) $("#question").focus();
    });
    hydrate();
    watchAnswer();
  }
  function refreshHistoryLink() { if (conversation()) $("#export").href = `/ui/conversations/${conversation()}/export`; }
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { childList: true, subtree: true, attributes: true, attributeFilter: ["class"] });
  changed();
})();
