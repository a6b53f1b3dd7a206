// What this browser knows of the hash chain of a space: up to where it has verified
// the record, and what it found. A worker does the work.
import { html, nothing } from "../vendor/lit-3.3.3.js";
import { DialogVerify } from "./dialog_verify.js";
import { remember, setting } from "../base/settings.js";

const most = 100_000; // records of one run
const mostWaiting = 2000; // redactions without their order that are remembered

export class Verification {
  constructor(app) {
    this.app = app;
    this.space = app.address.space;
    this.status = "none"; // or running, holds, more, stopped, passed, differs, broken, failed
  }

  // recall reads what was found in this epoch before.
  recall() {
    const { epoch } = this.app.store;
    if (!epoch || epoch === this.epoch) return;
    this.epoch = epoch;
    try {
      const known = JSON.parse(setting("verified." + this.space, "null"));
      if (known?.epoch === epoch) Object.assign(this, { status: known.status, state: known.state, broken: known.broken, differs: known.differs, when: known.when });
    } catch {
      // Somebody else wrote it.
    }
  }

  get running() {
    return this.status === "running";
  }

  // run goes on from where the last run ended, or from the beginning. With a head
  // that was kept elsewhere it begins where it can be held against that.
  run({ anew = false, kept } = {}) {
    this.stop();
    const state = anew || (kept && kept.index < (this.state?.head.index ?? 0)) ? undefined : this.state;
    if (!anew && !kept && this.kept?.index > (state?.head.index ?? 0)) kept = this.kept; // it was not reached yet
    Object.assign(this, { status: "running", kept, from: state?.head.index ?? 0, progress: undefined, broken: undefined, differs: undefined, message: "" });
    const worker = new Worker("/console/record/verify_worker.js", { type: "module" });
    this.worker = worker;
    worker.onmessage = ({ data }) => this.told(worker, data);
    worker.onerror = (e) => this.told(worker, { problem: e.message || "The page's worker did not start." });
    worker.postMessage({ space: this.space, state, kept: kept ? [kept] : [], most });
    this.app.changed();
  }

  // cancel ends a run; what it verified counts.
  cancel() {
    this.worker?.postMessage({ stop: true });
  }

  stop() {
    this.worker?.terminate();
    this.worker = undefined;
    if (this.running) this.status = this.state ? "stopped" : "none";
  }

  told(worker, { progress, result, problem }) {
    if (worker !== this.worker) return;
    if (progress) this.progress = progress;
    if (problem) Object.assign(this, { status: "failed", message: problem });
    if (result) this.found(result);
    if (problem || result) {
      worker.terminate();
      this.worker = undefined;
    }
    this.app.changed();
  }

  // found keeps what a run came to. That the chain is not the one of a head that
  // somebody typed need not be the chain's fault, and is told apart.
  found({ outcome, head, counts, state, broken, message = "" }) {
    const differs = broken?.given && { given: broken.given, found: broken.found };
    if (differs) [outcome, broken, this.kept] = ["differs", undefined, undefined];
    Object.assign(this, { status: outcome, head, counts, broken, differs, message, state, when: new Date().toISOString() });
    const known = { epoch: this.epoch, status: outcome === "passed" ? "holds" : outcome, state, broken, differs, when: this.when };
    remember("verified." + this.space, JSON.stringify(state.waiting.length <= mostWaiting ? known : null));
  }

  // upTo is the position of the newest envelope that was verified.
  get upTo() {
    return this.state?.head.seq ?? 0;
  }

  // words is all in a few of them.
  get words() {
    const upTo = this.upTo.toLocaleString("en");
    switch (this.status) {
      case "running": {
        const at = this.progress?.head.seq ?? 0;
        const of = Math.max(this.app.store.last, at, 1);
        return `verifying… ${Math.floor((100 * at) / of)} %`;
      }
      case "broken":
        return `broken at ${this.broken.seq.toLocaleString("en")}`;
      case "differs":
        return "differs from a head";
      case "failed":
        return "could not be verified";
      case "none":
        return "not verified";
      default:
        return `verified up to ${upTo}`;
    }
  }

  get tone() {
    return { running: "info", holds: "good", more: "good", stopped: "good", passed: "warn", differs: "warn", broken: "bad", failed: "warn", none: "dim" }[this.status];
  }

  show() {
    this.recall();
    this.app.show(new DialogVerify(this.app, this));
  }

  badge() {
    this.recall();
    return html`<button class="badge ${this.tone} verified" @click=${() => this.show()} aria-label="The hash chain: ${this.words}">${this.status === "broken" ? "✗ " : this.tone === "good" ? "✓ " : nothing}${this.words}</button>`;
  }
}
