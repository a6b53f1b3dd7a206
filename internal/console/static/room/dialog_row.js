// A message in full.
import { html, nothing } from "../vendor/lit-3.3.3.js";
import { everything } from "../base/address.js";
import * as api from "../base/api.js";
import { Dialog } from "../base/dialog.js";
import { indent } from "../base/raw.js";
import { person } from "../base/row.js";
import { Said } from "./said.js";
import { size, stamp, visible } from "../base/text.js";
import { ofThread } from "./thread_types.js";
import { Unserved } from "./unserved.js";

const mostShown = 200_000;

// RowDialog shows a message in full, with the gateway's copy of it.
export class RowDialog extends Dialog {
  constructor(app, row) {
    super(app);
    this.row = row;
    this.said = new Said(app, row);
    this.unserved = new Unserved(app, row);
    this.parts = row.ids.slice(0, 8).map((id) => ({ id }));
    for (const part of this.parts) this.load(part);
  }

  async load(part) {
    try {
      part.text = await api.envelope(this.app.address.space, part.id);
      if (part === this.parts[0]) this.said.of(part.text);
    } catch (problem) {
      part.problem = problem;
    }
    this.app.changed();
  }

  view() {
    const { row } = this;
    return this.frame(
      html`${person(row.from)} <span class="quiet">${visible(row.kind)}</span>`,
      html`
        <div class="scroll" tabindex="0">
          ${row.ts ? html`<p class="quiet small"><time datetime=${row.ts}>${stamp(row.ts)}</time>${row.seq ? html` · ${row.seq.toLocaleString("en")}` : nothing}</p>` : nothing}
          ${this.thread()}
          ${row.type === "chat" ? this.said.view() : nothing}
          ${this.unserved.view()}
          ${this.parts.length ? nothing : html`<p>${visible(row.text)}</p>`}
          ${this.parts.map((part) => html`
            <h3 class="code"><bdi>${visible(part.id)}</bdi></h3>
            ${part.problem ? html`<p class="problem">${visible(part.problem.message)}</p>` : html`<pre class="block"><code>${part.text === undefined ? "…" : visible(indent(part.text.slice(0, mostShown)))}</code></pre>`}
            ${part.text?.length > mostShown ? html`<p class="quiet">The first ${size(mostShown)} of ${size(part.text.length)} are shown.</p>` : nothing}`)}
        </div>
        ${this.ways()}`,
      "message",
    );
  }

  // thread is what the space says of threads like the one that this is in.
  thread() {
    const { about, unexpected } = ofThread(this.app.store, this.row);
    return [about, unexpected].filter(Boolean).map((one) => html`<p class="quiet small of-thread"><bdi>${one}</bdi></p>`);
  }

  // ways lead on from here.
  ways() {
    const { row, app } = this;
    const go = (change) => () => (this.close(), app.go(change));
    return html`
      <div class="buttons">
        ${row.id ? html`<button id="chain" @click=${go({ ...everything, page: "search", id: row.id })}>Show the chain</button>` : nothing}
        ${row.seq ? html`<button @click=${go({ ...everything, page: "search", at: String(row.seq) })}>Show around it</button>` : nothing}
        ${row.context ? html`<button @click=${go({ ...everything, page: app.page.constructor.name, context: row.context })}>Only this thread</button>
          <button @click=${go({ ...everything, page: "search", view: "replay", context: row.context, at: row.seq ? String(row.seq) : "" })}>Replay the thread</button>` : nothing}
        <button @click=${go({ ...everything, page: app.page.constructor.name, from: row.from })}>Only ${person(row.from)}</button>
      </div>`;
  }
}
