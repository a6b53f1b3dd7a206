// "May they send this?", put to the gateway. What is asked is made of the fields,
// and the answer stays until something else is asked.
import { html, live, nothing } from "../vendor/lit-3.3.3.js";
import * as api from "../base/api.js";
import { text, words } from "./rights.js";
import { person } from "../base/row.js";
import { visible } from "../base/text.js";

const questions = [
  { id: "call", label: "call a tool", tool: true, kind: (f) => `mcp/request:tools/call${f.tool ? ":" + f.tool : ""}` },
  { id: "propose", label: "propose to call a tool", tool: true, kind: (f) => `mcp/proposal:tools/call${f.tool ? ":" + f.tool : ""}` },
  { id: "chat", label: "say something", kind: () => "chat" },
  { id: "reject", label: "reject proposals", kind: () => "mcp/reject:tools/call" },
  { id: "kick", label: "close somebody's connections", kind: () => "space/kick" },
  { id: "grant", label: "grant rights", kind: () => "capability/grant" },
  { id: "own", label: "send another kind…", own: true, kind: (f) => f.kind },
];

export class Tester {
  constructor(app, id) {
    Object.assign(this, { app, id });
    this.form = { what: "call", tool: "", kind: "", to: "", payload: "", context: "" };
  }

  set(change) {
    Object.assign(this.form, change);
    this.app.changed();
  }

  get question() {
    return questions.find((q) => q.id === this.form.what);
  }

  // envelope is what is asked about, as JSON: a payload goes out as it was typed.
  get envelope() {
    const { form, question } = this;
    const e = { kind: question.kind(trimmed(form)) };
    if (form.to.trim()) e.to = [form.to.trim()];
    if (form.context.trim()) e.context = { id: "question", type: form.context.trim() };
    const payload = form.payload.trim();
    if (!payload) return JSON.stringify(e);
    const whole = question.tool ? `{"method":"tools/call","params":{"name":${JSON.stringify(form.tool.trim())},"arguments":${payload}}}` : payload;
    JSON.parse(whole);
    return `${JSON.stringify(e).slice(0, -1)},"payload":${whole}}`;
  }

  async ask(event) {
    event.preventDefault();
    this.answer = this.problem = undefined;
    let envelope;
    try {
      envelope = this.envelope;
    } catch {
      this.problem = { message: `${this.question.tool ? "The arguments are" : "The payload is"} no JSON.` };
      return this.app.changed();
    }
    const asked = (this.asked = {});
    this.busy = true;
    this.app.changed();
    try {
      const answer = await api.may(this.app.address.space, this.id, envelope);
      if (this.asked === asked) this.answer = answer;
    } catch (problem) {
      if (this.asked === asked) this.problem = problem;
    }
    if (this.asked === asked) this.busy = false;
    this.app.changed();
  }

  // view draws it; servers are who can be named, tools(server) their tools.
  view(servers, tools) {
    const { form, question } = this;
    const input = (name, label, placeholder, list) => html`<label class="stack"><span>${label}</span><input name="ask-${name}" autocomplete="off" spellcheck="false" maxlength="4096" placeholder=${placeholder} list=${list ?? nothing}
      .value=${live(form[name])} @input=${(e) => this.set({ [name]: e.target.value })}></label>`;
    return html`
      <form class="tester" @submit=${(e) => this.ask(e)}>
        <div class="fields">
          <label class="stack"><span>May ${person(this.id)}</span><select name="ask-what" id="tester" .value=${live(form.what)} @change=${(e) => this.set({ what: e.target.value })}>
            ${questions.map((q) => html`<option value=${q.id} ?selected=${q.id === form.what}>${q.label}</option>`)}</select></label>
          ${question.own ? input("kind", "Kind", "as mcp/request:resources/read:file:///w/a") : nothing}
          ${question.tool ? input("tool", "Tool", "any", "ask-tools") : nothing}
          ${input("to", question.tool ? "At" : "To", "everybody", "ask-people")}
          ${input("context", "In a context of type", "none")}
          <label class="stack wide"><span>${question.tool ? "Arguments" : "Payload"} <span class="quiet">(JSON; without it, whatever it is)</span></span>
            <textarea name="ask-payload" rows="2" spellcheck="false" placeholder=${question.tool ? '{"path": "/w/notes.md"}' : "{}"} .value=${live(form.payload)} @input=${(e) => this.set({ payload: e.target.value })}></textarea></label>
        </div>
        <datalist id="ask-people">${servers.map((s) => html`<option value=${s}></option>`)}</datalist>
        <datalist id="ask-tools">${tools(form.to.trim()).map((t) => html`<option value=${t}></option>`)}</datalist>
        <div class="buttons"><button type="submit" id="ask">${this.busy ? "Asking…" : "Ask the gateway"}</button></div>
        <div class="verdict" aria-live="polite">${this.verdict()}</div>
      </form>`;
  }

  verdict() {
    const { answer, problem } = this;
    if (problem) return html`<p class="problem">${visible(problem.message)} ${problem.hint ? visible(problem.hint) : nothing}</p>`;
    if (!answer) return nothing;
    const [word, tone] = answer.allowed ? ["Yes", "good"] : answer.depends ? ["It depends", "warn"] : ["No", "bad"];
    return html`
      <p class="answer-word"><span class="badge ${tone}">${word}</span> <span>${visible(answer.why)}.</span></p>
      <dl class="facts">
        ${answer.kind ? html`<dt>Asked about</dt><dd class="code"><bdi>${visible(answer.kind)}</bdi></dd>` : nothing}
        ${answer.by !== undefined ? html`<dt>${answer.needs === undefined ? "Decided by" : "The nearest"}</dt><dd><code><bdi>${visible(text(answer.by))}</bdi></code> <span class="quiet">${visible(words(answer.by))}</span></dd>` : nothing}
        ${answer.needs !== undefined ? html`<dt>It would take</dt><dd><code><bdi>${visible(text(answer.needs))}</bdi></code> <span class="quiet">${visible(words(answer.needs))}</span></dd>` : nothing}
        ${answer.refusal ? html`<dt>They would be told</dt><dd><bdi>${visible(`${answer.refusal.error}: ${answer.refusal.message}`)}</bdi>${answer.refusal.hint ? html` <span class="quiet"><bdi>${visible(answer.refusal.hint)}</bdi></span>` : nothing}</dd>` : nothing}
      </dl>`;
  }
}

const trimmed = (form) => ({ ...form, tool: form.tool.trim(), kind: form.kind.trim() });
