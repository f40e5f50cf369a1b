// Dialogs over the page: to confirm, to ask for a line or a reason, to show a document.
import { $, make, words } from "./dom.js";

export function dialog(content, label) {
  const close = make("button", { type: "button", className: "icon close", textContent: "×", label: words.cancel });
  const box = make("dialog", { label }, close, content);
  close.addEventListener("click", () => box.close());
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
  return box;
}

/** Ask for a text; null when it is cancelled, "" when there was no field to fill in. */
export function prompted(question, { action = words.ok, value, multiline = false } = {}) {
  return new Promise((resolve) => {
    const label = make("label", { textContent: question });
    const form = make("form", { method: "dialog" }, label);
    let field = null;
    if (value !== undefined) {
      field = make(multiline ? "textarea" : "input", { id: "prompted", value });
      label.htmlFor = field.id;
      form.append(field);
    }
    const cancel = make("button", { type: "button", className: "cancel", textContent: words.cancel });
    const submit = make("button", { type: "submit", className: "primary", textContent: action });
    form.append(make("p", { className: "buttons" }, cancel, submit));
    let answer = null;
    form.addEventListener("submit", () => { answer = field ? field.value : ""; });
    const box = dialog(form, question);
    cancel.addEventListener("click", () => box.close());
    box.addEventListener("close", () => resolve(answer));
    (field || $(".primary", box)).focus();
  });
}

export const confirmed = async (question, action) => (await prompted(question, { action })) !== null;
