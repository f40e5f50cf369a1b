// Talks to the service: fetches tokens from the host's page, asks, streams, restores, rates.
class Failure extends Error {
  constructor(code) {
    super(code);
    this.code = code;
  }
}

class Service {
  /** `server`: address of the service. `tokenUrl`: of the host, answers `{"token": …}`. `token`: one that the page brought. */
  constructor(server, tokenUrl, token) {
    Object.assign(this, { server, tokenUrl, token });
  }

  async ask(question, conversation, onEvent, signal) {
    const body = JSON.stringify({ question, conversation });
    const response = await this.request("/v1/widget/stream", { method: "POST", body, signal });
    for await (const [name, data] of events(response.body)) {
      if (name === "error") throw new Failure(data.code);
      onEvent(name, data);
    }
  }

  async conversation(id) {
    return (await this.request(`/v1/widget/conversation?conversation=${encodeURIComponent(id)}`)).json();
  }

  rate(rated) {
    return this.request("/v1/widget/feedback", { method: "POST", body: JSON.stringify(rated) });
  }

  async request(path, options = {}) {
    this.token ||= await this.fetchToken();
    let response = await this.send(path, options);
    if (response.status === 401 && this.tokenUrl) {
      this.token = await this.fetchToken();
      response = await this.send(path, options);
    }
    if (response.ok) return response;
    const { code } = await response.json().catch(() => ({}));
    throw new Failure(response.status === 401 ? "expired" : code);
  }

  async send(path, options) {
    const headers = { authorization: `Bearer ${this.token}`, ...(options.body ? { "content-type": "application/json" } : {}) };
    try {
      return await fetch(this.server + path, { ...options, headers, credentials: "omit" });
    } catch (error) {
      throw error.name === "AbortError" ? error : new Failure("unreachable");
    }
  }

  async fetchToken() {
    if (!this.tokenUrl) throw new Failure("expired");
    const response = await fetch(this.tokenUrl, { method: "POST", credentials: "same-origin" }).catch(() => null);
    const body = response?.ok ? await response.json().catch(() => ({})) : {};
    if (!body.token) throw new Failure("unreachable");
    return body.token;
  }
}

/** Server-sent events of a body, as [name, data]. */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const [, name] = /^event: (.*)$/m.exec(block) || [];
      const [, data] = /^data: (.*)$/m.exec(block) || [];
      if (name && data) yield [name, JSON.parse(data)];
    }
  }
}
