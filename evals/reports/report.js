"use strict";
const form = document.querySelector("form.filters");
const cases = [...document.querySelectorAll(".case")];
function show() {
  const want = {};
  for (const field of form.querySelectorAll("[data-filter]")) want[field.dataset.filter] = field.value;
  const text = want.text.toLowerCase();
  let shown = 0;
  for (const item of cases) {
    const fits =
      (!want.topic || item.dataset.topic === want.topic) &&
      (!want.language || item.dataset.language === want.language) &&
      (!want.verdict || item.dataset.verdict === want.verdict) &&
      (!text || item.textContent.toLowerCase().includes(text));
    item.hidden = !fits;
    shown += fits;
  }
  form.querySelector("output").value = `${shown} of ${cases.length}`;
}
form.addEventListener("input", show);
form.addEventListener("submit", (event) => event.preventDefault());
show();
