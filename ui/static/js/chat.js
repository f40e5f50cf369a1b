// The chat: sends questions, watches the answer come, and what can be done with a turn.
import { $, $$, advisor, copy, grow, make, note, on, problem, words } from "./dom.js";
import { prompted } from "./dialogs.js";
import { offerExport, refreshHistory } from "./history.js";
import { conversation, json, upload } from "./requests.js";

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
  const detail = { text: question, conversation: conversation(), replace };
  advisor.chat.dispatchEvent(new CustomEvent("advisor:ask", { detail }));
}

function stop() {
  advisor.chat.dispatchEvent(new CustomEvent("advisor:stop"));
  const turn = $("#live .turn.working");
  if (turn) {
    turn.classList.replace("working", "stopped");
    turn.removeAttribute("aria-busy");
    $(".stages", turn)?.remove();
    turn.append(make("p", { className: "note", role: "status", textContent: words.stopped }));
  }
  setAsking(false);
  $("#question")?.focus();
}

/** What each change of the page may mean for the turn that is being answered. */
export function watchAnswer() {
  const turn = $("#live .turn");
  if (!turn || !asking || "old" in turn.dataset) return;
  const waited = performance.now() - advisor.sentAt;
  advisor.firstStageMs ??= waited;
  if ($(".answer .text, .answer .error", turn)?.textContent.trim()) advisor.firstTextMs ??= waited;
  if (turn.classList.contains("working")) {
    turn.scrollIntoView({ block: "nearest", behavior: "instant" });
    return;
  }
  setAsking(false);
  const { conversation: id } = turn.dataset;
  if (id && id !== conversation()) history.replaceState(null, "", `/?c=${id}`);
  refreshHistory();
  for (const group of $$("#past .follow-ups")) group.remove();
  turn.scrollIntoView({ block: "start", behavior: "instant" });
}

/** When the page is there: the question of a link, and where to type. */
export function startChat() {
  offerExport();
  const field = $("#question");
  const question = new URLSearchParams(location.search).get("q");
  if (question) {
    field.value = question;
    grow(field);
    history.replaceState(null, "", "/");
  }
  if (matchMedia("(min-width: 700px)").matches) field.focus();
}

const turnOf = (element) => element.closest(".turn");
const questionOf = (turn) => $(".question p", turn).textContent;
const turnNumber = (turn) => Number(turn.dataset.turn) || null;

async function rate(button, rating, reason = "") {
  const { conversation: id, answer } = turnOf(button).dataset;
  await json("/ui/feedback", { conversation: id, answer, rating, reason });
  for (const other of $$(".icon.up, .icon.down", turnOf(button))) other.setAttribute("aria-pressed", String(other.matches(`.${rating}`)));
  const why = $(".why", turnOf(button));
  if (why) why.hidden = rating !== "up" || reason !== "";
  note(button, words.thanks);
}

const reason = (question) => prompted(question, { value: "", multiline: true, action: words.reason_send });

function edit(button) {
  const turn = turnOf(button);
  const box = $(".question", turn);
  if ($("textarea", box)) return;
  const field = make("textarea", { value: questionOf(turn), label: button.getAttribute("aria-label") });
  const send = make("button", { type: "submit", className: "primary", textContent: words.save_ask });
  const cancel = make("button", { type: "button", className: "cancel", textContent: words.cancel });
  const form = make("form", {}, field, cancel, send);
  const before = [...box.childNodes];
  const restore = () => box.replaceChildren(...before);
  cancel.addEventListener("click", restore);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { value } = field;
    restore();
    ask(value, turnNumber(turn));
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { event.stopPropagation(); restore(); }
    if (sends(event)) { event.preventDefault(); form.requestSubmit(); }
  });
  box.replaceChildren(form);
  field.focus();
}

/** Enter sends; not while a Chinese word is being composed with it. */
const sends = (event) => event.key === "Enter" && !event.shiftKey && !event.isComposing;

async function attach(files) {
  const place = $("#attachments");
  const line = make("p", { className: "note", role: "status", textContent: words.uploading });
  place.append(line);
  try {
    const result = await upload(`/ui/attachments${conversation() ? `?c=${conversation()}` : ""}`, files);
    if (!conversation()) history.replaceState(null, "", `/?c=${result.conversation}`);
    place.innerHTML = result.html;
  } catch (error) {
    line.replaceWith(problem(error));
  }
}

on("submit", "#composer", (_form, event) => {
  event.preventDefault();
  const field = $("#question");
  if (asking || !field.value.trim()) return;
  ask(field.value);
  field.value = "";
  grow(field);
});
on("input", "#question", grow);
on("keydown", "#question", (_field, event) => {
  if (!sends(event)) return;
  event.preventDefault();
  $("#composer").requestSubmit();
});
on("change", "#attach", async (field) => { await attach([...field.files]); field.value = ""; });
on("click", "#stop", stop);
on("click", ".ask[data-text]", (button) => ask(button.dataset.text));
on("click", ".turn .icon.edit", edit);
on("click", ".turn .icon.retry", (button) => ask(questionOf(turnOf(button)), turnNumber(turnOf(button))));
on("click", ".turn .icon.up", (button) => rate(button, "up"));
on("click", ".turn .icon.down", async (button) => {
  const given = await reason(words.reason);
  if (given !== null) await rate(button, "down", given);
});
on("click", ".turn .why", async (button) => {
  const given = await reason(words.reason_up);
  if (given) await rate(button, "up", given);
});
on("click", ".turn .icon.copy", async (button) => {
  const copied = $(".text", turnOf(button)).cloneNode(true);
  for (const mark of $$(".mark", copied)) mark.textContent = `[${mark.dataset.mark}]`;
  await copy(copied.innerText || copied.textContent);
  note(button, words.copied);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  if (asking) stop();
  else document.body.classList.remove("panel-open", "history-open");
});
document.addEventListener("advisor:leave", () => { if (asking) stop(); });
