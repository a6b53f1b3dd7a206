// A request to us that is no form: this page answers none. A program that is signed in
// as us may; where there is none, whoever asked can be told so.
import { html, nothing } from "../vendor/lit-3.3.3.js";
import * as api from "../base/api.js";
import { answerTo } from "../forms/answer.js";
import { person } from "../base/row.js";
import { clip, visible } from "../base/text.js";

const methodNotFound = -32601;

// isForUs reports whether a row is a request to us that waits.
const isForUs = (row, me) => row.type === "call" && row.state === "running" && row.to.includes(me);

export class Unserved {
  constructor(app, row) {
    Object.assign(this, { app, row, id: api.newID() });
  }

  async refuse() {
    if (this.sending) return;
    const { app, row } = this;
    this.sending = true;
    this.problem = undefined;
    app.changed();
    try {
      const request = await api.envelope(app.address.space, row.id);
      const error = JSON.stringify({ code: methodNotFound, message: `${app.me} does not serve this` });
      await api.send(app.address.space, answerTo(request, row.from, app.store, this.id, ["error", error]));
    } catch (problem) {
      if (problem.code !== "duplicate_id") this.problem = problem;
    }
    this.sending = false;
    app.changed();
  }

  view() {
    const { app, row, problem } = this;
    if (!isForUs(row, app.me)) return nothing;
    const method = row.kind.split(":")[1] ?? "";
    return html`
      <div class="warning unserved">
        <p>${person(row.from)} asks this of you. The console does not answer <bdi class="code">${visible(clip(method, 100))}</bdi>: a program that takes part as you can${method === "sampling/createMessage" ? html`, such as <span class="code">parley-model</span>` : nothing}. Until one does, ${person(row.from)} waits.</p>
        ${problem ? html`<p role="alert"><strong>${visible(problem.message)}</strong> ${visible(problem.hint)}</p>` : nothing}
        <button id="refuse" aria-disabled=${this.sending === true} @click=${() => this.refuse()}>Answer that nobody serves it</button>
      </div>`;
  }
}
