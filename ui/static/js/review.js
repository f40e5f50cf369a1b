// The review list: answering a question and moving it on; the list follows.
import { $, make, on, problem } from "./dom.js";
import { load, request } from "./requests.js";

on("submit", "form[data-review]", async (form, event) => {
  event.preventDefault();
  const place = $("#review-item");
  const button = $("button", form);
  $(".error", form)?.remove();
  place.setAttribute("aria-busy", "true");
  button.disabled = true;
  button.append(make("span", { className: "working" }, " …"));
  try {
    const body = JSON.stringify(Object.fromEntries(new FormData(form)));
    const headers = { "content-type": "application/json" };
    place.innerHTML = await (await request(form.dataset.review, { method: "POST", headers, body })).text();
    $("h2", place).focus();
    const state = $("#review-list [data-state]").dataset.state;
    await load($("#review-list"), `/ui/review/list?state=${state}`);
  } catch (error) {
    form.append(problem(error));
    $(".working", button)?.remove();
    button.disabled = false;
  }
  place.removeAttribute("aria-busy");
});
