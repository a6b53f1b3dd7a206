// A proposal to decide.
import { html, nothing } from "../vendor/lit-3.3.3.js";
import { Dialog } from "../base/dialog.js";
import { Reading } from "./reading.js";

// A click that was meant for what lay below must not approve anything.
const settleTime = 400; // milliseconds

// DecideDialog confirms an approval, or asks for the reason of a rejection.
export class DecideDialog extends Dialog {
  constructor(app, decision, mode) {
    super(app);
    this.decision = decision;
    this.mode = mode; // review, approve or reject
    this.reading = new Reading({ counts: () => this.settled, changed: (done) => this.reached(done), whole: () => this.showWhole() });
    this.settle();
  }

  // reached is told once the end of what will be sent was in sight. Where one had to go
  // there, the last key or click that did must not approve as well.
  reached(done) {
    if (done && this.goneOn) this.settle();
    this.app.changed();
  }

  showWhole() {
    this.decision.all = true;
    this.app.changed();
  }

  // read reports whether the end of what will be sent was in sight; unread that it was not,
  // so that the button goes there first.
  get read() {
    return this.reading.done;
  }

  get unread() {
    return !this.read && this.reading.unread;
  }

  goOn() {
    this.goneOn = true;
    this.reading.on();
  }

  // pressedIn has keys go to the end. A key that is held down confirms nothing.
  pressedIn(e) {
    if (e.key === "Enter" && e.repeat && !this.unread && e.target.matches("#confirm, #send")) return e.preventDefault();
    if (!this.unread || e.ctrlKey || e.metaKey || e.altKey || e.target.closest("input, select, textarea")) return;
    if (e.key === "PageDown") this.goOn();
    else if (e.key === "End") (this.goneOn = true), this.reading.end();
    else return;
    e.preventDefault();
  }

  // more says why the button does not confirm yet.
  more() {
    return html`<p class="quiet small more" id="to-read" role="status">${this.unread ? "There is more than was in sight: go on to its end first." : this.goneOn && this.read ? "That was all of it." : nothing}</p>`;
  }

  confirmLabel(label, key = nothing) {
    if (this.decision.busy) return "Sending…";
    return this.unread ? html`Read to the end <kbd>End</kbd>` : html`${label}${key}`;
  }

  // settle begins the time in which a click counts for nothing.
  settle() {
    this.begun = performance.now();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.app.changed(), settleTime + 10);
  }

  get settled() {
    return performance.now() - this.begun >= settleTime;
  }

  key(key) {
    const may = this.mode === "review" && this.decision.open && !this.decision.own;
    if (key === "a" && this.mode !== "reject" && this.decision.decidable) {
      document.getElementById("confirm")?.focus();
      if (this.unread) this.goOn();
      return true;
    }
    if (key === "r" && may) {
      this.reject();
      return true;
    }
    if (key === "m" && may && this.decision.decidable) {
      this.amend();
      return true;
    }
    return false;
  }

  // reject asks for the reason; where one may not, the button says why.
  reject() {
    if (this.decision.refused("reject")) return document.getElementById("reject-instead")?.focus();
    this.mode = "reject";
    this.app.changed();
  }

  amend() {
    if (this.decision.refused("amend") && !this.decision.begun) return document.getElementById("amend-instead")?.focus();
    this.close();
    this.app.decide(this.decision, "amend");
  }

  async approve() {
    if (!this.settled || !this.decision.decidable || this.decision.refused("approve")) return;
    if (this.unread) return this.goOn();
    if (!this.decision.to || !this.read) return;
    if (!(await this.decision.approve())) return;
    this.close();
    this.app.follow?.(this.decision); // what comes of it
  }

  // look shows another proposal on the page of approvals.
  look(event, id) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // in another tab
    event.preventDefault();
    this.close();
    this.app.go({ page: "approvals", proposal: id });
  }

  view() {
    const d = this.decision;
    queueMicrotask(() => this.reading.look()); // once it is drawn
    if (!d.info) return this.frame("Proposal", d.problem ? d.trouble() : html`<p class="quiet">Loading…</p>`, "decide");
    const verb = this.mode === "reject" ? "Reject" : this.mode === "approve" ? "Approve" : "Proposal";
    const review = () => html`${d.given()} ${d.earlierDecisions((event, id) => this.look(event, id))} ${d.toolNote()} ${d.reasoning()}`;
    return this.frame(
      html`${verb}: ${d.heading()}`,
      html`
        ${d.outcome()} ${d.trouble()}
        <div class="scroll" tabindex="-1">${d.facts()} ${d.changedNote()} ${this.mode === "reject" ? nothing : html`${d.earlierNote()} ${d.sentInstead()} ${d.call()}`} ${this.mode === "review" ? review() : nothing}</div>
        ${d.open && d.own ? d.ownNote() : d.mayNot(this.acts, "may-not-here")}
        ${!d.open || d.own ? html`<div class="buttons"><button @click=${() => this.close()}>Close</button></div>` : this.mode === "reject" ? d.rejectForm(() => this.close(), () => this.close()) : d.onlyNo ? this.rejection() : this.buttons(d)}`,
      "decide",
    );
  }

  // acts are what its buttons do.
  get acts() {
    if (this.mode !== "review") return [this.mode];
    return this.decision.onlyNo ? ["reject"] : ["approve", "amend", "reject"];
  }

  // rejection is all that is left where the tool has changed, or nobody can tell what is asked for.
  rejection() {
    return html`<div class="buttons"><button @click=${() => this.close()}>Close</button>${this.rejectButton()}</div>`;
  }

  rejectButton(key = nothing) {
    const not = this.decision.refused("reject");
    return html`<button class="danger" id="reject-instead" aria-disabled=${!!not} aria-describedby=${not ? "may-not-here" : nothing} @click=${() => this.reject()}>Reject…${key}</button>`;
  }

  buttons(d) {
    const not = { approve: d.refused("approve"), amend: d.refused("amend") };
    const unread = this.unread && !not.approve;
    const ready = this.settled && !d.busy && d.to !== "" && !not.approve && this.read;
    return html`
      ${this.more()}
      <div class="buttons">
        <button id="confirm" class=${unread ? "unread" : "primary"} aria-disabled=${!ready} aria-describedby=${not.approve ? "may-not-here" : unread ? "to-read" : nothing} ?autofocus=${this.mode === "approve"} @click=${() => this.approve()}>${not.approve ? "Approve and run" : this.confirmLabel("Approve and run", this.mode === "review" ? html` <kbd>a</kbd>` : nothing)}</button>
        ${this.mode === "review"
          ? html`${this.rejectButton(html` <kbd>r</kbd>`)}
            <button id="amend-instead" aria-disabled=${!!not.amend} aria-describedby=${not.amend ? "may-not-here" : nothing} @click=${() => this.amend()}>Amend… <kbd>m</kbd></button>`
          : html`<button @click=${() => this.close()}>Back</button>`}
        ${d.to === "" ? html`<span class="quiet">Choose whom to ask first.</span>` : nothing}
      </div>`;
  }
}
