// The list of conversations: open, rename, delete, and the address that leads to each.
import { $, advisor, on, words } from "./dom.js";
import { confirmed, prompted } from "./dialogs.js";
import { conversation, json, load, request } from "./requests.js";

export function refreshHistory() {
  const list = $("#history-list");
  if (list) load(list, `/ui/history?c=${conversation()}`);
  offerExport();
}

export function offerExport() {
  const link = $("#export");
  if (!link) return;
  if (conversation()) link.href = `/ui/conversations/${conversation()}/export`;
  else link.removeAttribute("href");
}

function openConversation(id) {
  history.pushState(null, "", id ? `/?c=${id}` : "/");
  showConversation();
}

function showConversation() {
  document.dispatchEvent(new Event("advisor:leave"));
  const query = conversation() ? `?c=${conversation()}` : "";
  advisor.live?.replaceChildren();
  load(advisor.chat, `/ui/conversation${query}`);
  load(advisor.panel, `/ui/panel${query}`);
  load($("#attachments"), `/ui/attachments${query}`);
  document.body.classList.remove("panel-open", "history-open");
  refreshHistory();
  $("#question")?.focus();
}

const linkOf = (button) => $("a", button.closest("li"));

on("click", "#new-chat", (_link, event) => { event.preventDefault(); openConversation(""); });
on("click", "#history-list a[data-conversation]", (link, event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  openConversation(link.dataset.conversation);
});
on("click", "#history-list .icon.rename", async (button) => {
  const link = linkOf(button);
  const title = await prompted(words.rename, { value: link.firstChild.textContent });
  if (!title) return;
  await json(`/ui/conversations/${link.dataset.conversation}`, { title }, "PATCH");
  refreshHistory();
});
on("click", "#history-list .icon.delete", async (button) => {
  const id = linkOf(button).dataset.conversation;
  if (!(await confirmed(words.confirm_delete, words.delete))) return;
  await request(`/ui/conversations/${id}`, { method: "DELETE" });
  if (id === conversation()) openConversation("");
  else refreshHistory();
});
on("click", ".delete-all", async () => {
  if (!(await confirmed(words.confirm_delete_all, words.delete))) return;
  await request("/ui/conversations", { method: "DELETE" });
  openConversation("");
});
on("click", "#print", () => window.print());
window.addEventListener("popstate", () => { if (advisor.chat) showConversation(); });
