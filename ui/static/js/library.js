// Documents, price files and evaluations: uploads with progress, jobs, deletion, filters, and what rows open.
import { $, $$, make, on, problem, words } from "./dom.js";
import { recalculateAll } from "./calculators.js";
import { confirmed } from "./dialogs.js";
import { follow, json, load, request, upload } from "./requests.js";

/** A line above the earlier ones in the place of jobs, in which `work` shows how far it is. */
async function inLine(place, work) {
  const line = make("div", { role: "status" });
  place.prepend(line);
  try {
    return await work(line);
  } catch (error) {
    line.replaceChildren(problem(error));
    return null;
  }
}

function addFiles(files) {
  const place = $("#jobs");
  if (!files.length || !place) return null;
  return inLine(place, async (line) => {
    const progress = (share) => { line.textContent = `${words.uploading} ${Math.round(share * 100)}%`; };
    const { job } = await upload("/ui/library/files", files, progress);
    await follow(job, line);
    await refreshDocuments();
  });
}

async function refreshDocuments() {
  const table = $("#documents");
  if (!table) return;
  await load(table, "/ui/library/documents");
  filterRows($("#filter"));
}

function filterRows(field) {
  const wanted = field.value.trim().toLowerCase();
  for (const row of $$("#documents tbody tr")) row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
}

async function usePrices(work) {
  const place = $("#prices");
  place.setAttribute("aria-busy", "true");
  try {
    place.innerHTML = (await work()).html;
    recalculateAll();
  } catch (error) {
    $(".error", place)?.remove();
    place.append(problem(error));
  }
  place.removeAttribute("aria-busy");
}

on("change", "#upload", async (field) => { const files = [...field.files]; field.value = ""; await addFiles(files); });
on("input", "#filter", filterRows);
on("click", "[data-delete-document]", async (button) => {
  if (!(await confirmed(`${words.confirm_delete} ${button.dataset.title}`, words.delete))) return;
  await request(`/ui/library/documents/${encodeURIComponent(button.dataset.deleteDocument)}`, { method: "DELETE" });
  await refreshDocuments();
});
on("change", "#price-file", async (field) => {
  const files = [...field.files];
  field.value = "";
  if (files.length) await usePrices(() => upload("/ui/prices", files));
});
on("click", "#drop-prices", () => usePrices(async () => (await request("/ui/prices", { method: "DELETE" })).json()));
on("submit", "form[data-get]", (form, event) => {
  event.preventDefault();
  return load($(form.dataset.into), `${form.dataset.get}?${new URLSearchParams(new FormData(form))}`);
});
on("submit", "form[data-job]", (form, event) => {
  event.preventDefault();
  return inLine($(form.dataset.into), async (line) => {
    const { job } = await json(form.dataset.job, Object.fromEntries(new FormData(form)));
    const state = await follow(job, line);
    await refreshDocuments();
    if (state.open) await load($("#run"), state.open);
    if ($("#runs")) await load($("#runs"), "/ui/evaluations/runs");
  });
});
on("click", "[data-fragment]", async (link, event) => {
  event.preventDefault();
  const place = $(link.dataset.into);
  await load(place, link.dataset.fragment);
  place.scrollIntoView({ block: "nearest" });
});
for (const name of ["dragover", "dragleave", "drop"]) {
  on(name, ".drop", (zone, event) => {
    event.preventDefault();
    zone.classList.toggle("over", name === "dragover");
    return name === "drop" ? addFiles([...event.dataTransfer.files]) : null;
  });
}
