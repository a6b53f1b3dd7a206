// The chain of one envelope, from what was thought to what came of it.
import { html, nothing } from "../vendor/lit-3.3.3.js";
import { everything } from "../base/address.js";
import * as api from "../base/api.js";
import { Chain, contextOf } from "./chain.js";
import { save } from "./export.js";
import { at, indent, items } from "../base/raw.js";
import { badge, person } from "../base/row.js";
import { oneRow } from "../room/store.js";
import { byteLength, clip, lasted, oneLine, size, stamp, visible } from "../base/text.js";

const mostShown = 200_000; // characters of an envelope at once
const mostSteps = 300; // that are drawn unless one asks for all
const mostBeside = 20; // envelopes of the same thread, before the chain

export class ChainView {
  constructor(page, id) {
    Object.assign(this, { page, app: page.app, id, opened: new Set() });
    this.stopper = new AbortController();
    this.load();
  }

  stop() {
    this.stopper.abort();
  }

  async load() {
    const { app, id } = this;
    const { space } = app.address;
    const { signal } = this.stopper;
    this.problem = undefined;
    this.heard = app.store.last;
    try {
      const text = await api.chain(space, id, signal);
      this.lines = items(at(text, "items"));
      this.truncated = at(text, "truncated") === "true";
      const envelopes = this.lines.map((line) => JSON.parse(line));
      this.chain = new Chain(envelopes, id);
      this.beside = await this.besides(envelopes, signal);
    } catch (problem) {
      if (!signal.aborted) this.problem = problem;
    }
    app.changed();
  }

  // besides is what was said in the same thread before the action, where the chain
  // itself does not lead there.
  async besides(envelopes, signal) {
    const { row } = this.chain;
    const context = row?.context;
    if (!context || envelopes.some((e) => contextOf(e) === context && e.seq < row.seq)) return [];
    const text = await api.search(this.app.address.space, { context, before: row.seq, order: "desc", limit: mostBeside }, signal);
    return items(at(text, "items")).reverse();
  }

  // update loads again what was not at its end when it was loaded.
  update() {
    const { store } = this.app;
    if (!this.chain || this.chain.settled || this.loading || store.last === this.heard) return;
    const row = store.byID.get(this.chain.row.id);
    this.heard = store.last;
    if (!row || row.state === this.chain.row.state) return;
    this.loading = true;
    this.load().finally(() => (this.loading = false));
  }

  // drawn brings what was asked for into sight, once.
  drawn() {
    if (!this.chain || this.revealed) return;
    this.revealed = true;
    const here = document.querySelector(".chain .here");
    const body = here?.closest(".body");
    if (here && here.offsetTop + here.offsetHeight > body.offsetTop + body.clientHeight) here.scrollIntoView({ block: "center" });
  }

  view() {
    const { chain, problem, page } = this;
    return html`
      <section class="past" aria-label="Chain">
        <header class="heading">
          <button class="plain" @click=${() => page.back()}>‹ Search</button>
          <h2>Chain <bdi class="thread">${visible(this.id)}</bdi></h2>
          <span class="grow"></span>
          ${page.app.verification.badge()}
          ${chain ? html`<button @click=${() => save(this.app.address.space, `chain-${this.id}`, this.lines)}>Export</button>` : nothing}
        </header>
        <div class="body" tabindex="-1">
          ${problem ? html`<p class="problem" role="alert">${visible(problem.message)} ${visible(problem.hint ?? "")} <button @click=${() => this.load()}>Try again</button></p>` : nothing}
          ${!chain && !problem ? html`<p class="quiet" role="status">Following the chain…</p>` : nothing}
          ${chain ? this.story() : nothing}
          ${chain ? this.steps() : nothing}
        </div>
      </section>`;
  }

  story() {
    const { chain } = this;
    const thought = this.beside?.length ? { n: this.beside.length, contexts: [chain.row.context], who: [], conclusion: undefined } : chain.thought();
    return html`
      <p class="story" id="story">${chain.story().map(words)}</p>
      ${thought.n && chain.row ? html`<p class="quiet">Before it, ${thought.n === 1 ? "1 message" : `${thought.n.toLocaleString("en")}${thought.n === mostBeside && this.beside?.length ? " or more" : ""} messages`} in ${thought.contexts.slice(0, 3).map((id) => html`<bdi class="thread">${visible(id)}</bdi> `)}${thought.conclusion ? html`and the conclusion of ${person(thought.conclusion.from)}: <bdi>${oneLine(clip(oneRow(thought.conclusion).text, 200))}</bdi>` : nothing}</p>` : nothing}
      ${chain.others ? html`<p class="quiet">The chain holds ${chain.others === 1 ? "1 more proposal" : `${chain.others.toLocaleString("en")} more proposals`}.</p>` : nothing}
      ${this.truncated ? html`<p class="warning" role="note">The chain is longer: ${chain.steps.length.toLocaleString("en")} envelopes of it are shown, what acts before what was only said.</p>` : nothing}`;
  }

  steps() {
    const beside = (this.beside ?? []).map((line) => ({ line, beside: true, e: JSON.parse(line), role: "Same thread", state: "" }));
    const steps = [...beside, ...this.chain.steps.map((step, i) => ({ ...step, line: this.lines[i] }))];
    const shown = this.all ? steps : steps.slice(0, mostSteps);
    return html`
      <ol class="chain" aria-describedby="story">${shown.map((step) => this.step(step))}</ol>
      ${shown.length < steps.length ? html`<button @click=${() => ((this.all = true), this.app.changed())}>Show all ${steps.length.toLocaleString("en")}</button>` : nothing}`;
  }

  step({ e, role, state, after, crosses, line, beside }) {
    const row = oneRow(e);
    const here = e.id === this.id;
    const context = contextOf(e);
    return html`
      ${crosses ? html`<li class="crossing"><span>From the thread <bdi class="thread">${visible(crosses)}</bdi> to what followed from it</span></li>` : nothing}
      <li class="step ${role.split(" ")[0].toLowerCase()} ${beside ? "near" : ""} ${here ? "here" : ""}" aria-current=${here ? "true" : nothing}>
        <div class="line">
          <strong class="role">${role}</strong> ${person(e.from)}
          ${row.to.length ? html`<span class="quiet">to</span> ${row.to.slice(0, 4).map(person)}` : nothing}
          ${state ? stateBadge(state) : nothing}
          ${context && !beside ? html`<bdi class="thread">${visible(context)}</bdi>` : nothing}
          <span class="grow"></span>
          ${after > 0 ? html`<span class="after">+${lasted(after)}</span>` : nothing}
          <time datetime=${e.ts}>${stamp(e.ts)}</time>
        </div>
        <p class=${/^[[{]/.test(row.text) ? "code" : ""}><bdi>${oneLine(clip(summary(e, line, row), 500))}</bdi></p>
        ${row.type === "proposal" && typeof e.payload?.reason === "string" ? html`<p class="quiet">because <bdi>${oneLine(clip(e.payload.reason, 500))}</bdi></p>` : nothing}
        <details @toggle=${(event) => this.toggle(e.id, event.target.open)}>
          <summary>Exactly as it is on record <span class="quiet">#${e.seq.toLocaleString("en")}, ${visible(e.kind)}, ${size(byteLength(line))}</span></summary>
          ${this.opened.has(e.id) ? this.exact(e, line) : nothing}
        </details>
      </li>`;
  }

  exact(e, line) {
    return html`<pre class="block" tabindex="0"><code>${visible(indent(line.slice(0, mostShown)))}</code></pre>
      ${line.length > mostShown ? html`<p class="quiet">The first ${size(mostShown)} of ${size(line.length)} are shown; the export has all.</p>` : nothing}
      <div class="buttons">
        <button @click=${() => navigator.clipboard?.writeText(line)}>Copy</button>
        <button @click=${() => this.app.go({ ...everything, page: "search", at: String(e.seq) })}>Show around it</button>
        ${contextOf(e) ? html`<button @click=${() => this.app.go({ ...everything, page: "search", view: "replay", context: contextOf(e), at: String(e.seq) })}>Replay the thread</button>` : nothing}
      </div>`;
  }

  toggle(id, open) {
    if (open) this.opened.add(id);
    else this.opened.delete(id);
    this.app.changed();
  }
}

// summary is what a row says; the arguments of a call as they are spelled, so that no
// number is rounded.
function summary(e, line, row) {
  const given = row.type === "proposal" || row.type === "call" ? at(line, "payload", "params", "arguments") : undefined;
  if (given === undefined) return row.text;
  return [e.payload.method, e.payload.params.name, given].filter((part) => typeof part === "string").join(" ");
}

function words(part) {
  if (part?.person !== undefined) return person(part.person);
  if (part?.code !== undefined) return html`<bdi class="code">${visible(clip(part.code, 120))}</bdi>`;
  if (part?.quote !== undefined) return html`<bdi>${oneLine(clip(part.quote, 300))}</bdi>`;
  if (part?.lasted !== undefined) return lasted(part.lasted);
  return part;
}

const tones = { approved: "good", "approved, changed": "good" };
const stateBadge = (state) => (tones[state] ? html`<span class="badge ${tones[state]}">${state}</span>` : badge(state));
