// The bubble and the panel that it opens: the messages, the line to type in, and what is kept over a navigation.
const KEPT = "advisor-widget";
const MESSAGES = { expired: "expired", expired_token: "expired", unreachable: "unreachable", origin_refused: "unreachable", wrong_origin: "unreachable", day_limit: "today", rate_limited: "soon" };

class Panel {
  constructor(options) {
    Object.assign(this, options);
    this.kept = { open: false, conversation: null, ...read() };
    const { words } = this;
    this.bubble = make("button", { type: "button", className: "bubble", "aria-label": words.open, "aria-expanded": "false", "aria-controls": "panel", onclick: () => this.toggle(!this.kept.open) }, icon("bubble"));
    this.log = make("div", { className: "log", role: "log", "aria-label": words.log, tabIndex: 0 });
    this.field = make("textarea", { rows: 1, maxLength: 8000, "aria-label": words.ask, placeholder: words.ask, onkeydown: (event) => this.onKey(event) });
    this.send = make("button", { type: "submit", className: "primary" }, words.send);
    this.stopper = make("button", { type: "button", className: "primary", hidden: true, onclick: () => this.stop() }, words.stop);
    const heading = make("header", {}, make("h3", { id: "heading" }, this.title || words.title),
      make("button", { type: "button", className: "icon", "aria-label": words.fresh, onclick: () => this.fresh() }, icon("fresh")),
      make("button", { type: "button", className: "icon", "aria-label": words.close, onclick: () => this.toggle(false) }, icon("close")));
    const form = make("form", { className: "composer", onsubmit: (event) => { event.preventDefault(); this.submit(); } }, this.field, this.send, this.stopper);
    this.panel = make("section", { id: "panel", className: "panel", role: "dialog", "aria-labelledby": "heading", hidden: true, onkeydown: (event) => { if (event.key === "Escape") this.toggle(false); } }, heading, this.log, form);
    this.greet();
  }

  get elements() {
    return [this.panel, this.bubble];
  }

  /** Show again what was open before the page was left. */
  start() {
    if (this.kept.open) this.toggle(true, { focus: false });
  }

  toggle(open, { focus = true } = {}) {
    this.keep({ open });
    this.panel.hidden = !open;
    this.bubble.setAttribute("aria-expanded", String(open));
    this.bubble.setAttribute("aria-label", open ? this.words.close : this.words.open);
    if (open) this.restore();
    if (focus) (open ? this.field : this.bubble).focus();
  }

  async restore() {
    if (this.restored || !this.kept.conversation) return;
    this.restored = true;
    try {
      for (const answer of await this.service.conversation(this.kept.conversation)) {
        const turn = this.addTurn(answer.question);
        turn.show(answer);
        this.last = answer;
      }
      this.offerFollowUps();
      this.scroll();
    } catch (error) {
      if (error.code === "conversation_not_found") this.keep({ conversation: null });
      else this.log.append(make("p", { className: "error", role: "alert" }, this.say(error)));
    }
  }

  fresh() {
    this.stop();
    this.keep({ conversation: null });
    this.last = null;
    this.log.replaceChildren();
    this.greet();
    this.field.focus();
  }

  greet() {
    this.log.append(make("p", { className: "greeting" }, this.words.greeting));
  }

  submit() {
    const question = this.field.value.trim();
    if (!question || this.asking) return;
    this.field.value = "";
    this.ask(question);
  }

  async ask(question) {
    this.restored = true;
    this.log.querySelector(".follow-ups")?.remove();
    const turn = this.addTurn(question);
    this.busy(new AbortController());
    const { signal } = this.asking;
    const show = (name, data) => {
      if (name === "stage") turn.stage(data.stage);
      else if (name === "text") turn.release(data.text);
      else if (name === "answer") this.finish(turn, data);
      this.scroll();
    };
    try {
      await this.askOrBegin(question, show, signal);
    } catch (error) {
      if (signal.aborted) turn.stop();
      else this.failed(turn, question, error);
    }
    if (this.asking?.signal === signal) this.busy(null);
  }

  /** Go on with the conversation, or begin a new one where it isn't there any more. */
  async askOrBegin(question, show, signal) {
    const { conversation } = this.kept;
    try {
      await this.service.ask(question, conversation, show, signal);
    } catch (error) {
      if (error.code !== "conversation_not_found" || !conversation) throw error;
      this.keep({ conversation: null });
      await this.service.ask(question, null, show, signal);
    }
  }

  finish(turn, answer) {
    turn.show(answer);
    this.last = answer;
    this.keep({ conversation: answer.conversation });
    this.offerFollowUps();
  }

  failed(turn, question, error) {
    turn.retry = () => { turn.element.remove(); this.ask(question); };
    turn.fail(this.say(error));
    this.scroll();
  }

  say(error) {
    return this.words[MESSAGES[error.code] || "failed"];
  }

  stop() {
    this.asking?.abort();
    this.busy(null);
  }

  busy(asking) {
    this.asking = asking;
    this.send.hidden = asking !== null;
    this.stopper.hidden = asking === null;
    this.log.setAttribute("aria-busy", String(asking !== null));
  }

  addTurn(question) {
    const rate = (answer, rating, reason) => this.service.rate({ conversation: answer.conversation, answer: answer.id, rating, reason });
    const turn = new Turn(question, { words: this.words, rate });
    this.log.querySelector(".greeting")?.remove();
    this.log.append(turn.element);
    this.scroll();
    return turn;
  }

  offerFollowUps() {
    if (!this.last?.follow_ups.length) return;
    const chips = this.last.follow_ups.map((question) => make("button", { type: "button", className: "chip", onclick: () => { if (!this.asking) this.ask(question); } }, question));
    this.log.append(make("div", { className: "follow-ups" }, ...chips));
  }

  scroll() {
    this.log.scrollTop = this.log.scrollHeight;
  }

  onKey(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.submit();
  }

  keep(values) {
    Object.assign(this.kept, values);
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(this.kept));
    } catch { /* a page may have no storage; then nothing outlives it */ }
  }
}

function read() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT)) || {};
  } catch {
    return {};
  }
}
