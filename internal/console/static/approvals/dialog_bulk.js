// Several proposals are rejected for one reason. There is no such thing for
// approvals: what runs is looked at one by one.
import { html, nothing, ref } from "../vendor/lit-3.3.3.js";
import * as api from "../base/api.js";
import { Bulk } from "./bulk.js";
import { reasons } from "./decision.js";
import { Dialog } from "../base/dialog.js";
import { badge, person } from "../base/row.js";
import { counted, oneLine, visible } from "../base/text.js";

const mostListed = 200;

export class BulkDialog extends Dialog {
  // done is called with the ids that need not be chosen any more.
  constructor(app, items, done) {
    super(app);
    const space = app.address.space;
    this.done = done;
    this.focus = (element) => queueMicrotask(() => element?.focus()); // what had the keyboard is gone
    this.bulk = new Bulk(items, {
      send: ({ id, requestID }, { reason, message }) => api.reject(space, id, { id: requestID, reason, ...(message ? { message } : {}) }),
      meanwhile: (one) => this.meanwhile(one),
      changed: () => app.changed(),
      newID: api.newID,
    });
  }

  // meanwhile says how a proposal ended.
  meanwhile({ id }) {
    const row = this.app.store.byID.get(id);
    if (row?.type === "proposal" && row.state !== "open") return { state: row.state, by: row.by, amended: row.amended, own: row.by === this.app.me };
    return undefined;
  }

  async submit(e) {
    e.preventDefault();
    if (this.bulk.running) return;
    const { reason, message } = e.target.elements;
    this.given = { reason: reason.value, message: message.value.trim() };
    await this.bulk.run(this.given);
    this.tell();
  }

  async again() {
    this.bulk.again();
    await this.bulk.run(this.given);
    this.tell();
  }

  tell() {
    this.done(this.bulk.items.filter((one) => one.state !== "waiting" && one.state !== "failed").map((one) => one.id));
    this.app.changed();
  }

  close() {
    this.bulk.stop();
    super.close();
  }

  view() {
    const { bulk } = this;
    bulk.heard();
    const left = bulk.count("waiting");
    const body = bulk.running ? this.progress() : this.given ? this.result() : this.form(left);
    return this.frame(
      this.given ? (bulk.running ? "Rejecting" : "Rejected") : html`Reject ${counted(left, "proposal")}`,
      html`
        <ul class="scroll bulk" tabindex="0" aria-label="Proposals to reject">${bulk.items.slice(0, mostListed).map((one) => this.item(one))}
          ${bulk.items.length > mostListed ? html`<li class="quiet">and ${(bulk.items.length - mostListed).toLocaleString("en")} more</li>` : nothing}</ul>
        ${body}`,
      "bulk",
    );
  }

  item(one) {
    return html`
      <li>
        <span><strong><bdi>${visible(one.title)}</bdi></strong> ${person(one.from)} <span class="quiet">to</span> ${one.to.length ? one.to.slice(0, 3).map(person) : html`<span class="quiet">whoever can</span>`}
          ${one.state === "rejected" ? badge("rejected") : one.state === "sending" ? html`<span class="badge info">sending</span>` : one.state === "failed" ? html`<span class="badge warn">not rejected</span>` : nothing}</span>
        ${one.sample ? html`<span class="code sample"><bdi>${oneLine(one.sample)}</bdi></span>` : nothing}
        ${one.state === "decided" ? html`<span class="ended">${ended(one.how)}</span>` : nothing}
        ${one.why ? html`<span class="problem">${visible(one.why)}</span>` : nothing}
      </li>`;
  }

  form(left) {
    return html`
      <form class="reject" @submit=${(e) => this.submit(e)}>
        <label>Reason <select name="reason">${reasons.map((r) => html`<option>${r}</option>`)}</select></label>
        <label class="grow"><span>In words <span class="quiet">(optional, on record with each)</span></span><input name="message" autocomplete="off" maxlength="2000" autofocus></label>
        <div class="buttons">
          <button type="submit" class="danger" id="reject-all" ?disabled=${left === 0}>Reject ${left === 1 ? "it" : `these ${left.toLocaleString("en")}`}</button>
          <button type="button" @click=${() => this.close()}>Back</button>
        </div>
      </form>`;
  }

  progress() {
    const { bulk } = this;
    const over = bulk.items.length - bulk.count("waiting") - bulk.count("sending");
    return html`
      <div class="going">
        <progress max=${bulk.items.length} .value=${over} aria-label="Rejecting"></progress>
        <span role="status">${over.toLocaleString("en")} of ${bulk.items.length.toLocaleString("en")}</span>
        <button id="bulk-stop" ${ref(this.focus)} @click=${() => bulk.stop()} aria-disabled=${bulk.stopped}>${bulk.stopped ? "Stopping…" : "Stop"}</button>
      </div>`;
  }

  result() {
    const { bulk } = this;
    const [rejected, decided, failed, left] = ["rejected", "decided", "failed", "waiting"].map((state) => bulk.count(state));
    return html`
      <p role="status" id="bulk-result">${counted(rejected, "is rejected", "are rejected")}.${decided ? ` ${counted(decided, "was", "were")} decided by others meanwhile.` : ""}${failed ? ` ${counted(failed, "is", "are")} not rejected: see why above.` : ""}${left ? ` ${counted(left, "was", "were")} left out.` : ""}</p>
      <div class="buttons">
        ${failed || left ? html`<button class="danger" id="again" @click=${() => this.again()}>Try ${failed ? "what failed" : "the rest"} again</button>` : nothing}
        <button class="primary" id="bulk-close" ${ref(this.focus)} @click=${() => this.close()}>Close</button>
      </div>`;
  }
}

function ended(how) {
  if (typeof how === "string") return oneLine(how);
  const words = { rejected: "rejected", withdrawn: "withdrawn", expired: "expired" };
  return html`${words[how.state] ?? (how.amended ? "approved with changes" : "approved")} meanwhile${how.by && how.state !== "expired" ? html` by ${person(how.by)}` : nothing}`;
}
