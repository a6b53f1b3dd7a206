// The hash chain: what was verified, what is wrong with it, and what to hold it
// against.
import { html, nothing } from "../vendor/lit-3.3.3.js";
import { everything } from "../base/address.js";
import * as api from "../base/api.js";
import { Dialog } from "../base/dialog.js";
import { parseHead } from "./record.js";
import { clip, counted, stamp, visible } from "../base/text.js";

export class DialogVerify extends Dialog {
  constructor(app, verification) {
    super(app);
    this.v = verification;
    this.given = "";
    api.head(app.address.space).then((head) => (this.now = head), (problem) => (this.problem = problem.message)).finally(() => app.changed());
  }

  // compare holds the chain against a head that was noted elsewhere.
  compare(e) {
    e.preventDefault();
    this.problem = "";
    try {
      this.v.run({ kept: this.given.trim() ? parseHead(this.given) : undefined });
    } catch (error) {
      this.problem = error.message;
      this.app.changed();
    }
  }

  view() {
    const { v } = this;
    return this.frame(
      "The hash chain of this record",
      html`
        <div class="scroll verify" tabindex="-1">
          ${crypto.subtle ? this.found() : html`<p class="warning" role="note">This browser computes hashes only on pages that came over TLS or from this machine. Open the console over TLS or on 127.0.0.1, or run <code>parley log verify</code>.</p>`}
          ${this.problem ? html`<p class="problem" role="alert">${visible(this.problem)}</p>` : nothing}
          <h3>Against a head that was noted elsewhere</h3>
          <p class="quiet small">That the end was not cut off or written anew shows only against a head that was kept where nobody who can write the journal gets at it. <code>parley log head</code> prints one.</p>
          <form class="compare" @submit=${(e) => this.compare(e)}>
            <label class="grow"><span class="sr">Head</span><input name="head" autocomplete="off" spellcheck="false" placeholder="INDEX:SEQ:HASH" .value=${this.given} @input=${(e) => (this.given = e.target.value)}></label>
            <button ?disabled=${v.running || !crypto.subtle}>Compare</button>
          </form>
          ${this.now ? html`<p class="small">The head now, to be noted: <code class="head"><bdi>${visible(clip(String(this.now.head), 200))}</bdi></code> <button type="button" class="plain" @click=${() => navigator.clipboard?.writeText(this.now.head)}>Copy</button></p>` : nothing}
        </div>
        ${crypto.subtle ? this.buttons() : nothing}`,
      "verify",
    );
  }

  buttons() {
    const { v } = this;
    if (v.running) return html`<div class="buttons"><button id="verify-stop" @click=${() => v.cancel()}>Stop</button></div>`;
    return html`
      <div class="buttons">
        <button id="verify" class="primary" @click=${() => v.run({ anew: !!v.broken })}>${v.broken ? "Verify again" : v.differs ? "Go on without that head" : v.state ? "Go on from there" : "Verify"}</button>
        ${v.state && !v.broken ? html`<button id="verify-anew" @click=${() => v.run({ anew: true })}>From the beginning</button>` : nothing}
        ${v.broken ? html`<button @click=${() => (this.close(), this.app.go({ ...everything, page: "search", at: String(Math.max(1, v.broken.seq)) }))}>Show around it</button>` : nothing}
      </div>`;
  }

  found() {
    const { v } = this;
    const c = v.counts ?? v.state?.counts;
    return html`
      <div role="status" aria-live="polite">${this.verdict()}</div>
      ${v.running ? html`<progress max=${Math.max(1, this.now?.index ?? 1)} value=${v.progress?.head.index ?? v.from} aria-label="Verified"></progress>` : nothing}
      ${c && v.status !== "none" && !v.running ? html`<p class="quiet small">${contents(c)}.</p>` : nothing}
      <p class="quiet small">This browser reads the record and computes every hash itself. What it verified before is not read again: choose <em>From the beginning</em> for that.</p>`;
  }

  verdict() {
    const { v } = this;
    const upTo = v.upTo.toLocaleString("en");
    const when = v.when ? html` <span class="quiet">(${stamp(v.when)})</span>` : nothing;
    switch (v.status) {
      case "running":
        return html`<p>Verifying… record ${(v.progress?.head.index ?? v.from).toLocaleString("en")}${this.now ? ` of ${this.now.index.toLocaleString("en")}` : nothing}</p>`;
      case "holds":
        return html`<p class="outcome good"><strong>Verified up to ${upTo}: nothing was edited, cut out or moved.</strong>${v.kept ? " It agrees with the head that was noted." : nothing}${when}</p>`;
      case "more":
        return html`<p class="outcome">Verified up to ${upTo}; nothing was edited so far. <strong>There is more: go on.</strong>${when}</p>`;
      case "stopped":
        return html`<p class="outcome">Verified up to ${upTo}; nothing was edited so far. It was stopped there.${when}</p>`;
      case "passed":
        return html`<p class="outcome">Verified up to ${upTo}: nothing was edited. ${visible(v.message)}${when}</p>`;
      case "differs":
        return differing(v.differs, when);
      case "broken":
        return html`<p class="problem" role="alert"><strong>The chain breaks at ${v.broken.seq.toLocaleString("en")} (record ${v.broken.index.toLocaleString("en")}):</strong> ${visible(clip(v.broken.reason, 400))}.${when}</p>`;
      case "failed":
        return html`<p class="warning" role="alert">It could not be verified: ${visible(clip(v.message, 400))}</p>`;
      default:
        return html`<p>Nobody has verified this record in this browser yet.</p>`;
    }
  }
}

// differing says how the chain is not the one of a head that was given, and that it may
// be the head.
function differing({ given, found }, when) {
  const n = (i) => i.toLocaleString("en");
  const beyond = given.index > found.index;
  const [what, why] = beyond
    ? [`Your head is of record ${n(given.index)}, and the chain ends at record ${n(found.index)}.`, "Either the head was mistyped, or the end of the chain was cut off after it was noted."]
    : given.hash === found.hash
      ? [`Your head says ${n(given.seq)} messages up to record ${n(given.index)}, and there are ${n(found.seq)}.`, "The hash agrees, which covers that as well: SEQ was mistyped."]
      : [`At record ${n(given.index)} the chain is not the one of your head.`, "Either the head was mistyped, or something up to there was edited and the chain written anew after it was noted."];
  return html`<div class="warning" role="alert"><p><strong>${what}</strong> ${why} Nothing else was found up to there. Look at what was noted, and compare again.${when}</p>
    <dl class="heads"><dt>Yours</dt><dd>${written(given)}</dd><dt>${beyond ? "The end of the chain" : "The chain’s"}</dt><dd>${written(found)}</dd></dl></div>`;
}

const written = ({ index, seq, hash }) => html`<code><bdi>${index}:${seq}:${hash}</bdi></code>`;

function contents(c) {
  const parts = [counted(c.envelopes, "envelope"), counted(c.refusals, "refusal")];
  if (c.redacted) parts.push(`${c.redacted.toLocaleString("en")} redacted by order`);
  if (c.checkpoints) parts.push(counted(c.checkpoints, "checkpoint"));
  if (c.dropped) parts.push(`${counted(c.dropped, "record was", "records were")} dropped by retention before them`);
  return parts.join(", ");
}
