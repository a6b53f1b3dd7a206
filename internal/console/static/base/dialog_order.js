// An order that is about to be given: what it does in a sentence, the envelope as
// it will be sent, and whether the gateway would take it, which is asked before.
import { html, nothing } from "../vendor/lit-3.3.3.js";
import * as api from "./api.js";
import { Dialog } from "./dialog.js";
import { indent } from "./raw.js";
import { visible } from "./text.js";

export class OrderDialog extends Dialog {
  // title and says are what is shown; verb is the button's; kind and payload make the
  // envelope, to which a reason may be added; done is called when it is on record.
  constructor(app, { title, says, more = nothing, verb, danger = false, kind, payload, reason = "", done = () => {}, back }) {
    super(app);
    Object.assign(this, { title, says, more, verb, danger, kind, payload, reason, done, back });
    this.id = api.newID(); // the same for each try: it is sent once
    this.ask();
  }

  get envelope() {
    const reason = this.reason.trim();
    return { id: this.id, kind: this.kind, payload: { ...this.payload, ...(reason ? { reason } : {}) } };
  }

  // ask finds out whether it would be refused, and why.
  async ask() {
    const { app } = this;
    try {
      this.answer = await api.may(app.address.space, app.me, this.envelope);
    } catch (problem) {
      this.problem = problem;
    }
    app.changed();
  }

  async send() {
    if (this.busy || !this.answer?.allowed) return;
    this.busy = true;
    this.problem = undefined;
    this.app.changed();
    try {
      await api.send(this.app.address.space, this.envelope);
      this.sent();
    } catch (problem) {
      if (problem.code === "duplicate_id") this.sent();
      else this.problem = problem;
    }
    this.busy = false;
    this.app.changed();
  }

  sent() {
    this.close();
    this.done();
  }

  view() {
    const { answer, problem } = this;
    const submit = (e) => {
      e.preventDefault();
      this.send();
    };
    return this.frame(
      this.title,
      html`
        <p class="says">${this.says}</p>
        <div class="scroll" tabindex="-1">
          ${this.more}
          <label class="stack"><span>Why <span class="quiet">(optional, on record)</span></span>
            <input name="reason" autocomplete="off" maxlength="2000" .value=${this.reason} @input=${(e) => ((this.reason = e.target.value), this.app.changed())} autofocus></label>
          <details class="exact" open><summary>Exactly as it will be sent</summary>
            <pre class="block" tabindex="0"><code>${visible(indent(JSON.stringify(this.envelope)))}</code></pre></details>
        </div>
        ${problem ? html`<p class="problem" role="alert">${visible(problem.message)} ${problem.hint ? html`<span>${visible(problem.hint)}</span>` : nothing}</p>` : nothing}
        ${answer && !answer.allowed ? refused(answer) : nothing}
        <form class="buttons" @submit=${submit}>
          <button type="submit" id="confirm" class=${this.danger ? "danger" : "primary"} aria-disabled=${!answer?.allowed || !!this.busy}>${this.busy ? "Sending…" : this.verb}</button>
          <button type="button" @click=${() => (this.close(), this.back?.())}>Back</button>
        </form>`,
      "order",
    );
  }
}

function refused({ why, needs, refusal }) {
  return html`<p class="problem" role="alert">You may not: ${visible(why)}.
    ${needs ? html`It takes <code><bdi>${visible(typeof needs === "string" ? needs : JSON.stringify(needs))}</bdi></code>.` : nothing}
    ${refusal?.hint ? visible(refusal.hint) : nothing}</p>`;
}
