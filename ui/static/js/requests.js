// Requests to the server: fragments of the page, JSON, uploads, and jobs that are followed until they are done.
import { $$, problem, words } from "./dom.js";

const HEADER = { "x-advisor": "1" }; // another site's page can't send it

const reason = (body, status) => (typeof body.detail === "string" ? body.detail : `${words.failed} (${status})`);

export async function request(url, options = {}) {
  let response;
  try {
    response = await fetch(url, { ...options, headers: { ...HEADER, ...options.headers } });
  } catch {
    throw new Error(words.network);
  }
  if (response.ok) return response;
  throw new Error(reason(await response.json().catch(() => ({})), response.status));
}

const sending = (body, method) => ({ method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

export const json = async (url, body, method = "POST") => (await request(url, sending(body, method))).json();

/** Put a fragment of the server's HTML into a place. */
export async function load(place, url, body) {
  place.setAttribute("aria-busy", "true");
  try {
    place.innerHTML = await (await request(url, body ? sending(body, "POST") : {})).text();
  } catch (error) {
    place.replaceChildren(problem(error));
  }
  place.removeAttribute("aria-busy");
}

/** The conversation of the address. */
export const conversation = () => new URLSearchParams(location.search).get("c") || "";

/** Fill the places that the page left for fragments. */
export function loadAll() {
  for (const place of $$("[data-load]")) {
    const url = new URL(place.dataset.load, location.origin);
    if (place.hasAttribute("data-with-query")) url.search = location.search;
    else if (conversation()) url.searchParams.set("c", conversation());
    delete place.dataset.load;
    load(place, url);
  }
}

export function upload(url, files, onProgress = () => {}) {
  return new Promise((resolve, reject) => {
    const form = new FormData();
    for (const file of files) form.append("files", file);
    const sender = new XMLHttpRequest(); // fetch doesn't tell how far an upload is
    sender.open("POST", url);
    for (const [name, value] of Object.entries(HEADER)) sender.setRequestHeader(name, value);
    sender.upload.addEventListener("progress", (event) => onProgress(event.total ? event.loaded / event.total : 0));
    sender.addEventListener("error", () => reject(new Error(words.network)));
    sender.addEventListener("load", () => {
      const body = (() => { try { return JSON.parse(sender.responseText); } catch { return {}; } })();
      if (sender.status < 300) resolve(body);
      else reject(new Error(reason(body, sender.status)));
    });
    sender.send(form);
  });
}

const POLL_MS = 300;

/** Show a job in a place until it is done; returns its last state. */
export async function follow(job, place) {
  for (;;) {
    const state = await (await request(`/ui/jobs/${job}`)).json();
    place.innerHTML = state.html;
    if (state.done) return state;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
