// A call changed by whoever decides: edit it, see the difference, send it as one's
// own. The text outlives the dialog, whatever happens to the proposal.
import { html, nothing, ref } from "../vendor/lit-3.3.3.js";
import { DecideDialog } from "./dialog_decide.js";
import { DiffView } from "./diff_view.js";
import { person } from "../base/row.js";
import { byteLength, oneLine, size, visible } from "../base/text.js";

const large = 50_000; // characters, beyond which the text is looked at once typing pauses
const pause = 250; // milliseconds

export class AmendDialog extends DecideDialog {
  constructor(app, decision) {
    super(app, decision, "amend");
    this.step = "edit"; // or confirm
    this.amendment = decision.amendment();
    this.text = this.amendment.text; // what the field begins with
    this.field = (element) => {
      this.area = element;
      queueMicrotask(() => {
        if (!element) return;
        element.setSelectionRange(0, 0);
        element.focus();
        element.scrollTop = 0; // the browser went to where the text ends
      });
    };
    this.focus = (element) => queueMicrotask(() => element?.focus());
    this.judge();
  }

  key() {
    return false;
  }

  // judge looks at the text: what keeps it from being sent, and what the tool's
  // schema says.
  judge() {
    clearTimeout(this.pausing);
    this.pausing = undefined;
    this.wrong = this.amendment.wrong();
    this.hints = this.wrong ? [] : this.amendment.hints(this.decision.definition?.inputSchema);
    this.judged = this.decision.definition;
    this.app.changed();
  }

  typed(text, how) {
    if (how?.startsWith("insertFrom")) this.textRead = false; // what is pasted need not have been read
    this.amendment.edit(text);
    this.unchanged = false;
    clearTimeout(this.pausing);
    if (text.length < large) return this.judge();
    this.pausing = setTimeout(() => this.judge(), pause);
  }

  pressed(e) {
    if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey)) return;
    e.preventDefault();
    this.compare();
  }

  // compare goes on to the difference, and to the one confirmation.
  compare() {
    this.looked();
    this.judge();
    if (this.wrong) return this.wrong.at === undefined ? undefined : this.goThere();
    this.unchanged = this.amendment.same;
    if (!this.unchanged) {
      this.params = this.amendment.call();
      this.difference = new DiffView(this.amendment.original, this.amendment.edited);
      this.step = "confirm";
      this.unfolded = !this.read;
      this.decision.drafted((to) => this.amendment.envelope({ id: this.decision.requestID, to }));
      this.settle();
    }
    this.app.changed();
  }

  // looked notes that the end of the text is in sight, also of each line.
  looked() {
    const { area } = this;
    if (area?.clientHeight && area.wrap !== "off" && area.scrollTop + area.clientHeight >= area.scrollHeight - 1) this.textRead = true;
  }

  // What was edited to its end need not be read again, where the call holds nothing else.
  get read() {
    return (this.textRead && !this.decision.laidOut.rest) || this.reading.done;
  }

  goThere() {
    this.area?.focus();
    this.area?.setSelectionRange(this.wrong.at, Math.min(this.wrong.at + 1, this.area.value.length));
  }

  back() {
    this.step = "edit";
    this.decision.drafted(undefined);
    this.text = this.amendment.text;
    this.app.changed();
  }

  anew() {
    this.textRead = false;
    this.area.value = this.amendment.original;
    this.typed(this.amendment.original);
    this.area.focus();
  }

  copy() {
    this.area.select();
    this.copied = document.execCommand("copy"); // the newer way is for pages by TLS alone
    this.app.changed();
  }

  async send() {
    if (!this.settled || this.decision.refused("send")) return;
    if (this.unread) return this.goOn();
    if (!this.decision.to || !this.read) return;
    if (await this.decision.amend(this.amendment)) this.close();
  }

  // arrived is called once the stream tells of what was sent, whose answer may be lost.
  arrived() {
    this.amendment.done();
    queueMicrotask(() => this.close());
  }

  close() {
    clearTimeout(this.pausing);
    this.decision.drafted(undefined);
    super.close();
  }

  view() {
    const d = this.decision;
    queueMicrotask(() => this.reading.look()); // once it is drawn
    if (this.judged !== d.definition) this.judge();
    if (d.amended && d.closedBy === d.requestID) this.arrived();
    return this.frame(
      html`Amend: ${d.heading()}`,
      html`${d.outcome()} ${d.open ? nothing : html`<p class="warning" role="note">It can no longer be amended. Your text stays here, and when you come back.</p>`} ${d.trouble()}
        ${this.step === "edit" ? this.edit(d) : this.confirm(d)}`,
      `amend ${this.step}`,
    );
  }

  edit(d) {
    const { amendment } = this;
    return html`
      <p class="small">What you send is a call of your own${d.to ? html` to ${person(d.to)}` : nothing}, in place of what ${person(d.info.from)} proposes. Numbers and strings that you do not touch are sent as they are written.</p>
      <label for="amended">${amendment.member ? "Arguments" : "Parameters"} <span class="quiet">JSON, ${size(byteLength(amendment.text))}</span></label>
      <textarea id="amended" ${ref(this.field)} autofocus spellcheck="false" autocomplete="off" autocapitalize="off" wrap=${amendment.original.length > large ? "off" : "soft"}
        .value=${this.text} aria-invalid=${this.wrong ? "true" : "false"} aria-describedby="amend-said" @scroll=${() => this.looked()} @input=${(e) => this.typed(e.target.value, e.inputType)} @keydown=${(e) => this.pressed(e)}></textarea>
      <div id="amend-said" class="said-of" role="status">${this.said()}</div>
      ${d.mayNot(this.unchanged ? ["approve", "amend"] : ["amend"], "may-not-here")}
      <div class="buttons">
        <button id="compare" class="primary" aria-disabled=${!!this.wrong || !d.open} @click=${() => d.open && this.compare()}>See the difference… <kbd>Ctrl Enter</kbd></button>
        <button id="anew" ?disabled=${amendment.text === amendment.original} @click=${() => this.anew()}>Begin anew</button>
        ${d.open ? nothing : html`<button @click=${() => this.copy()}>${this.copied ? "Copied" : "Copy the text"}</button>`}
        <button @click=${() => this.close()}>Close</button>
      </div>`;
  }

  said() {
    const { wrong } = this;
    if (this.pausing) return html`<p class="quiet">…</p>`;
    if (wrong?.at !== undefined) {
      return html`<p class="problem">Line ${wrong.line.toLocaleString("en")}, column ${wrong.column.toLocaleString("en")}: ${oneLine(wrong.message)}. <button class="plain" @click=${() => this.goThere()}>Go there</button></p>`;
    }
    if (wrong) return html`<p class="problem">${visible(wrong.message[0].toUpperCase() + wrong.message.slice(1))}.</p>`;
    if (this.unchanged) {
      return html`<p class="warning">Nothing is changed: this is what was proposed. ${this.approveInstead()}</p>`;
    }
    if (!this.hints.length) return html`<p class="quiet">${this.decision.definition?.inputSchema ? "As the tool’s schema has it." : "This is JSON. What the tool takes is not on record."}</p>`;
    return html`<div class="warning">By the tool’s schema:<ul class="hints">${this.hints.map((hint) => html`<li><bdi>${oneLine(hint)}</bdi></li>`)}</ul>You may send it all the same.</div>`;
  }

  approveInstead() {
    const { decision } = this;
    const not = decision.refused("approve");
    const go = () => not || (this.close(), this.amendment.done(), this.app.decide(decision, "approve"));
    return html`<button id="approve-instead" aria-disabled=${!!not} aria-describedby=${not ? "may-not-here" : nothing} @click=${go}>Approve it as it is…</button>`;
  }

  confirm(d) {
    const { params } = this;
    const not = d.refused("send");
    const unread = this.unread && !not;
    const ready = this.settled && !d.busy && d.to !== "" && !not && this.read;
    return html`
      <div class="scroll" tabindex="-1">
        ${d.facts()} ${d.changedNote()}
        ${this.hints.length ? this.said() : nothing}
        <h3>What you change <span class="quiet">${this.difference.summary}</span></h3>
        ${this.difference.view()}
        <details class="exact" ?open=${this.unfolded}>
          <summary>Exactly as it will be sent <span class="quiet">params, ${size(byteLength(params))}</span></summary>
          ${d.block("sent", params, true)}
        </details>
      </div>
      ${d.mayNot(["send"], "may-not-here")}
      ${this.more()}
      <div class="buttons">
        ${d.open ? html`<button id="send" class=${unread ? "unread" : "primary"} ${ref(this.focus)} aria-disabled=${!ready} aria-describedby=${not ? "may-not-here" : unread ? "to-read" : nothing} @click=${() => this.send()}>${not ? "Send as yours and run" : this.confirmLabel("Send as yours and run")}</button>` : nothing}
        <button id="back" @click=${() => this.back()}>Back to the text</button>
        ${d.to === "" ? html`<span class="quiet">Choose whom to ask first.</span>` : nothing}
      </div>`;
  }
}
