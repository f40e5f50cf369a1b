// The panel beside the chat: opens the source or calculation of a mark, and whole documents in a dialog.
import { $, $$, advisor, make, on } from "./dom.js";
import { dialog } from "./dialogs.js";
import { conversation, load } from "./requests.js";

async function openMark(turn, mark) {
  const panel = $("#panel-column");
  if (turn?.dataset.answer && $("[data-answer]", panel)?.dataset.answer !== turn.dataset.answer) {
    await load(advisor.panel, `/ui/panel?c=${turn.dataset.conversation}&answer=${turn.dataset.answer}`);
  }
  document.body.classList.add("panel-open");
  const card = mark ? $(`#mark-${mark}`, panel) : $(".card", panel);
  if (!card) return;
  for (const other of $$(".card.open", panel)) other.classList.remove("open");
  card.classList.add("open");
  card.scrollIntoView({ block: "start", behavior: "instant" });
  card.focus({ preventScroll: true });
}

async function openDocument(button) {
  const { document: id, start = 0, end = 0 } = button.dataset;
  const body = make("div", { className: "document-body" });
  dialog(body, button.textContent).classList.add("wide");
  await load(body, `/ui/documents/${encodeURIComponent(id)}?start=${start}&end=${end}&c=${conversation()}`);
  const span = $("#document-span", body);
  span?.scrollIntoView({ block: "center", behavior: "instant" });
  span?.focus({ preventScroll: true });
}

on("click", ".turn .mark[data-mark]", (mark) => openMark(mark.closest(".turn"), mark.dataset.mark));
on("click", ".show-panel", (button) => openMark(button.closest(".turn"), null));
on("click", "[data-document]", openDocument);
on("click", "#open-panel", () => document.body.classList.toggle("panel-open"));
on("click", "#close-panel", () => document.body.classList.remove("panel-open"));
on("click", "#open-history", () => document.body.classList.toggle("history-open"));
