// Making elements. Nothing is ever parsed as HTML: the page may demand trusted types, and texts stay texts.
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && !name.startsWith("aria")) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

const PATHS = {
  bubble: "M4 5h16v11H9l-4 4v-4H4z",
  close: "M6 6l12 12M18 6L6 18",
  fresh: "M12 5v14M5 12h14",
  up: "M7 11v9H4v-9zM7 11l4-8c1.5 0 2 1 2 2v4h6l-1.5 11H7",
  down: "M7 13V4H4v9zM7 13l4 8c1.5 0 2-1 2-2v-4h6L17.5 4H7",
};

function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const image = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  image.setAttribute("viewBox", "0 0 24 24");
  image.setAttribute("aria-hidden", "true");
  path.setAttribute("d", PATHS[name]);
  image.append(path);
  return image;
}

/** A link to a web address, or its name alone. */
function link(name, url) {
  return url ? make("a", { href: url, target: "_blank", rel: "noopener noreferrer", textContent: name }) : name;
}
