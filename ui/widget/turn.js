// One question with its answer: text, marks that open their source or calculation below it, thumbs.
class Turn {
  /** `rate(rating, reason)` keeps a thumb; `retry()` asks again. */
  constructor(question, { words, rate, retry }) {
    Object.assign(this, { words, rate, retry });
    this.status = make("p", { className: "status", role: "status" });
    this.text = make("div", { className: "text" });
    this.card = make("div", { className: "card", role: "region", tabIndex: -1, hidden: true, onkeydown: (event) => this.onCardKey(event) });
    this.actions = make("div", { className: "actions" });
    this.element = make("article", { className: "turn", "aria-label": question },
      make("p", { className: "question" }, question), this.status, this.text, this.card, this.actions);
  }

  stage(name) {
    this.status.textContent = this.words[name] || "";
  }

  release(text) {
    this.released = (this.released || "") + text;
    this.text.replaceChildren(...markdown(this.released, () => null));
  }

  show(answer) {
    this.answer = answer;
    this.status.textContent = this.words[answer.status] || "";
    this.status.classList.toggle("said", Boolean(this.words[answer.status]));
    const behind = new Map([...answer.sources, ...answer.calculations].map((one) => [one.mark, one]));
    this.text.replaceChildren(...markdown(answer.text, (mark) => (behind.has(mark) ? this.markButton(behind.get(mark)) : null)));
    this.text.lang = answer.language === "zh" ? "zh-CN" : "en";
    this.note = make("span", { className: "note", role: "status" });
    this.thumbs = ["up", "down"].map((kind) => make("button", { type: "button", className: "icon", "aria-label": this.words[kind], "aria-pressed": "false", onclick: () => this.thumb(kind) }, icon(kind)));
    this.actions.replaceChildren(...this.thumbs, this.note);
  }

  fail(message) {
    this.status.textContent = "";
    this.text.replaceChildren(make("p", { className: "error", role: "alert" }, message));
    this.actions.replaceChildren(make("button", { type: "button", className: "chip", onclick: this.retry }, this.words.again));
  }

  stop() {
    this.status.textContent = this.words.stopped;
  }

  markButton(one) {
    const kind = "quote" in one ? "source" : "calculation";
    const button = make("button", { type: "button", className: `mark ${kind}`, "aria-label": `${this.words[kind]} ${one.mark}`, "aria-expanded": "false", onclick: () => this.toggle(button, one) }, one.mark);
    return button;
  }

  toggle(button, one) {
    const open = button.getAttribute("aria-expanded") === "true";
    for (const other of this.text.querySelectorAll(".mark")) other.setAttribute("aria-expanded", "false");
    this.card.hidden = open;
    if (open) return;
    button.setAttribute("aria-expanded", "true");
    this.opened = button;
    const close = make("button", { type: "button", className: "icon", "aria-label": this.words.close, onclick: () => this.closeCard() }, icon("close"));
    this.card.setAttribute("aria-label", `${button.getAttribute("aria-label")}: ${one.title}`);
    this.card.replaceChildren(close, ...("quote" in one ? sourceCard(one, this.words) : calculationCard(one, this.words)));
    this.card.focus({ preventScroll: true });
    this.card.scrollIntoView({ block: "nearest" });
  }

  closeCard() {
    this.card.hidden = true;
    this.opened.setAttribute("aria-expanded", "false");
    this.opened.focus();
  }

  onCardKey(event) {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    this.closeCard();
  }

  async thumb(rating, reason = "") {
    const press = () => this.thumbs.forEach((thumb, index) => thumb.setAttribute("aria-pressed", String(["up", "down"][index] === rating)));
    try {
      await this.rate(this.answer, rating, reason);
      press();
      if (rating === "down" && !reason) this.askReason();
      else this.note.textContent = this.words.thanks;
    } catch {
      this.note.textContent = this.words.failed;
    }
  }

  askReason() {
    const field = make("input", { type: "text", maxLength: 2000, "aria-label": this.words.reason, placeholder: this.words.reason });
    const form = make("form", { className: "reason", onsubmit: (event) => {
      event.preventDefault();
      form.remove();
      if (field.value.trim()) this.thumb("down", field.value.trim());
    } }, field, make("button", { type: "submit", className: "chip" }, this.words.save));
    this.actions.querySelector("form")?.remove();
    this.actions.append(form);
    field.focus();
  }
}

function sourceCard(source, words) {
  const place = [source.section, source.page ? words.page.replace("{n}", source.page) : ""].filter(Boolean).join(" · ");
  return [
    make("h5", {}, link(source.title, source.url)),
    make("p", { className: "note" }, place),
    make("blockquote", {}, source.before, make("mark", {}, source.quote), source.after),
    references(source.references),
  ];
}

function calculationCard(run, words) {
  return [
    make("h5", {}, run.title),
    make("p", {}, run.headline),
    run.table.length ? grid(run.table) : null,
    make("p", { className: "note" }, `${words.formula} ${run.formula}`),
    make("ul", {}, ...run.assumptions.map((one) => make("li", {}, one))),
    references(run.references),
  ].filter((part) => part !== null);
}

function references(all) {
  return make("ul", { className: "note" }, ...all.map((one) => make("li", {}, link(one.name, one.url), one.as_of ? ` (${one.as_of})` : "")));
}
