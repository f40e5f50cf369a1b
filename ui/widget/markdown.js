// The Markdown of answers as elements: paragraphs, lists, tables, headings, bold, code, and marks as buttons.
const INLINE = /\*\*(.+?)\*\*|(?<![\w*])\*([^\s*][^*]*)\*(?![\w*])|`([^`]+)`|\[(T?\d{1,4})\]/g;
const ITEM = /^(\s*)(?:[-*]|\d+\.)\s+(.*)$/;

/** Elements of a text; `button(mark)` gives the button of a mark, or null for a mark that has nothing behind it. */
function markdown(text, button) {
  const blocks = [];
  const lines = text.split("\n");
  let at = 0;
  const while_ = (test) => {
    const found = [];
    while (at < lines.length && test(lines[at])) found.push(lines[at++]);
    return found;
  };
  while (at < lines.length) {
    const line = lines[at];
    if (!line.trim()) at += 1;
    else if (/^#{1,6}\s/.test(line)) {
      blocks.push(make("h4", {}, ...inline(line.replace(/^#+\s+/, ""), button)));
      at += 1;
    } else if (line.startsWith("```")) {
      at += 1;
      blocks.push(make("pre", {}, while_((one) => !one.startsWith("```")).join("\n")));
      at += 1;
    } else if (line.trim().startsWith("|")) blocks.push(table(while_((one) => one.trim().startsWith("|")), button));
    else if (ITEM.test(line)) blocks.push(list(while_((one) => ITEM.test(one) || /^\s{2,}\S/.test(one)), button));
    else blocks.push(make("p", {}, ...inline(while_((one) => one.trim() && !ITEM.test(one) && !one.trim().startsWith("|") && !/^#{1,6}\s/.test(one)).join("\n"), button)));
  }
  return blocks;
}

function inline(text, button) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, bold, emphasis, code, mark] = match;
    parts.push(text.slice(end, match.index));
    if (bold) parts.push(make("strong", {}, ...inline(bold, button)));
    else if (emphasis) parts.push(make("em", {}, ...inline(emphasis, button)));
    else if (code) parts.push(make("code", {}, code));
    else parts.push(button(mark) ?? whole);
    end = match.index + whole.length;
  }
  parts.push(text.slice(end));
  return parts.filter((part) => part !== "");
}

function list(lines, button) {
  const items = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item) items.push(item[2]);
    else items[items.length - 1] += `\n${line.trim()}`;
  }
  const tag = /^\s*\d/.test(lines[0]) ? "ol" : "ul";
  return make(tag, {}, ...items.map((item) => make("li", {}, ...inline(item, button))));
}

function table(lines, button) {
  const rows = lines
    .filter((line) => !/^[\s|:-]+$/.test(line))
    .map((line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|")));
  return grid(rows, (cell) => inline(cell, button));
}

/** A table that scrolls by itself; its first row is the header. */
function grid(rows, content = (cell) => [cell]) {
  const line = (cells, tag) => make("tr", {}, ...cells.map((cell) => make(tag, tag === "th" ? { scope: "col" } : {}, ...content(cell))));
  const [head, ...body] = rows;
  const whole = make("table", {}, make("thead", {}, line(head, "th")), make("tbody", {}, ...body.map((row) => line(row, "td"))));
  return make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": head.join(", ") }, whole);
}
