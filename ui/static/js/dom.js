// What every module uses: the page's settings and texts, finding and making elements, handling events by selector.
export const advisor = window.advisor;
export const words = advisor.words;
export const $ = (selector, root = document) => root.querySelector(selector);
export const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

export function make(tag, properties = {}, ...children) {
  const { role, label, ...own } = properties;
  const element = Object.assign(document.createElement(tag), own);
  if (role) element.setAttribute("role", role);
  if (label) element.setAttribute("aria-label", label);
  element.append(...children);
  return element;
}

/** An error as a line in the page, which screen readers announce. */
export const problem = (error) => make("p", { className: "error", role: "alert", textContent: error.message });

/** Handle events of elements that match, also of those that come later. */
export function on(type, selector, handle) {
  document.addEventListener(type, (event) => {
    const element = event.target.closest?.(selector);
    if (element) (async () => handle(element, event))().catch(announce);
  });
}

/** A fault that belongs to no place of the page, for some seconds at its lower edge. */
export function announce(error) {
  const line = problem(error);
  line.classList.add("toast");
  document.body.append(line);
  setTimeout(() => line.remove(), 8000);
}

/** A short remark beside the buttons of an element. */
export function note(element, message) {
  const place = $(".note", element.closest(".actions"));
  if (!place) return;
  place.textContent = message;
  setTimeout(() => { if (place.textContent === message) place.textContent = ""; }, 6000);
}

export function grow(field) {
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, 200)}px`;
}

export async function copy(value) {
  try {
    await navigator.clipboard.writeText(value);
  } catch { // the clipboard is only for pages that come over TLS or from this machine
    const field = make("textarea", { value });
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}

export function download(name, type, content) {
  const link = make("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
