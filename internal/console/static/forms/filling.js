// A form that is being filled in, from what was asked to what is sent. It draws into
// an element of its own, which keeps what was typed while no dialog shows it, and is
// not drawn anew by whatever else happens in the room.
import { html, nothing, render } from "../vendor/lit-3.3.3.js";
import { answerTo } from "./answer.js";
import * as api from "../base/api.js";
import { check, content, label, parse, unfit } from "./form.js";
import { fieldView, mostChoices, read, stateOf } from "./form_fields.js";
import { linkOf, linkView } from "./form_link.js";
import { matchAll } from "./pattern.js";
import { at, indent, textAt } from "../base/raw.js";
import { person } from "../base/row.js";
import { byteLength, clip, size, visible } from "../base/text.js";

const settleTime = 400; // milliseconds: a key or click that was meant for what was here before sends nothing
const mostShown = 100_000; // characters
const mostValue = 400; // characters of an answer in the summary

export class Filling {
  // close is called when there is nothing more to show.
  constructor(app, ask) {
    Object.assign(this, { app, ask, close() {}, step: "loading", problems: new Map(), begun: [] });
    this.sent = { text: "", id: "" };
    this.element = document.createElement("div");
    this.element.className = "filling";
    ask.changed = () => this.draw();
    this.load();
  }

  async load() {
    this.trouble = undefined;
    try {
      this.text = await api.envelope(this.app.address.space, this.ask.id);
      this.begin(at(this.text, "payload", "params") ?? "");
    } catch (problem) {
      this.trouble = problem;
    }
    this.draw();
    this.focus();
    this.cause = await this.causeOf();
    this.draw();
  }

  // begin finds out what is asked: a form, a link to open, or something odd.
  begin(params) {
    this.params = params;
    if (textAt(params, "mode") === "url") {
      this.link = linkOf(params);
      this.step = "link";
      return;
    }
    try {
      const form = parse(params);
      const choices = form.fields.reduce((n, f) => n + (f.choices?.length ?? 0), 0);
      if (choices > mostChoices) throw new Error(`there are ${choices.toLocaleString("en")} choices in it, more than can be shown as a form`);
      this.form = form;
      this.step = this.form.fields.length ? "fields" : "summary";
      if (this.step === "summary") this.compose(new Map());
    } catch (refusal) {
      this.odd = refusal.message;
      this.step = "odd";
    }
  }

  // causeOf looks for the call in the course of which somebody asks. It counts only
  // if it was made of the one who asks: else they could borrow the trust that another
  // call has.
  async causeOf() {
    const ids = [].concat(JSON.parse(at(this.text ?? "", "correlation_id") ?? "[]"));
    for (const id of ids.slice(0, 4)) {
      try {
        const call = JSON.parse(await api.envelope(this.app.address.space, id));
        if (!call.kind.startsWith("mcp/request") || !call.to?.includes(this.ask.from)) continue;
        const { method, params } = call.payload ?? {};
        const what = [method === "tools/call" ? "" : method, params?.name ?? params?.uri].filter((s) => typeof s === "string" && s).join(" ") || method;
        return html`for ${call.from === this.app.me ? "your" : html`${person(call.from)}’s`} call of <bdi class="code">${visible(clip(String(what), 160))}</bdi>`;
      } catch {
        // It is shown without.
      }
    }
    return undefined;
  }

  // focus takes the keyboard to where one begins, or to what a new step is about.
  focus() {
    if (!this.element.isConnected) return;
    const first = { fields: "[aria-invalid=true], .field input, .field select, .field textarea", odd: "textarea", link: "#confirm-link, #decline", summary: "#send", opening: "#open-link", ended: ".outcome" }[this.step];
    const found = [...this.element.querySelectorAll(first || "none")].find((e) => e.checkVisibility());
    (found?.localName === "fieldset" ? found.querySelector("input") : found)?.focus();
  }

  draw() {
    if (this.ask.ended && this.step !== "ended") {
      this.step = "ended";
      render(this.endedView(), this.element);
      this.focus();
      return;
    }
    if (this.step !== "ended") render(this.view(), this.element);
    if (this.step === "fields" && !this.begun.length) this.begun = this.fieldElements().map(stateOf);
  }

  go(step) {
    this.step = step;
    this.trouble = undefined;
    this.shown();
    this.draw();
    this.focus();
  }

  // shown is told when the dialog with it opens.
  shown() {
    this.since = performance.now();
    setTimeout(() => this.draw(), settleTime + 10);
  }

  get settled() {
    return performance.now() - (this.since ?? 0) >= settleTime;
  }

  // ready reports whether there is somebody to send something to now.
  get ready() {
    return this.settled && !this.sending && !this.ask.ended;
  }

  fieldElements() {
    return [...this.element.querySelectorAll("[data-field]")];
  }

  // answer is what a field says now: the asker's own bytes where nobody changed them.
  answer(i, element) {
    const field = this.form.fields[i];
    if (field.default !== undefined && stateOf(element) === this.begun[i]) return { json: field.default };
    const said = read(field, element);
    if (said.json !== undefined) said.problem = check(field, said.json);
    return said;
  }

  // changed judges a field again once it was left, where there is something in it.
  async changed(e) {
    const element = e.target.closest("[data-field]");
    if (!element) return;
    const i = Number(element.dataset.field);
    const { name } = this.form.fields[i];
    const said = this.answer(i, element);
    if (said.json === undefined && !said.problem && !this.problems.has(name)) return;
    const problem = said.problem || (await this.patternProblems([[i, said.json]])).get(name);
    if (problem) this.problems.set(name, problem);
    else this.problems.delete(name);
    this.draw();
  }

  // patternProblems are those of answers, as [field's number, JSON], with patterns.
  async patternProblems(answers) {
    const asked = answers.map(([i, json]) => [this.form.fields[i], json]).filter(([f, json]) => f.pattern && json !== undefined);
    const found = await matchAll(asked.map(([f, json]) => [f.pattern, JSON.parse(json)]));
    return new Map(asked.flatMap(([f, json], n) => (found[n] === false ? [[f.name, unfit(f, JSON.parse(json))]] : [])));
  }

  // review goes on to what would be sent, or shows what is not right yet.
  async review(e) {
    e.preventDefault();
    if (this.busy) return;
    const answers = new Map();
    const problems = new Map();
    const tried = [];
    this.fieldElements().forEach((element, i) => {
      const { name } = this.form.fields[i];
      const said = this.answer(i, element);
      if (said.problem) problems.set(name, said.problem);
      else if (said.json !== undefined) {
        answers.set(name, said.json);
        tried.push([i, said.json]);
      }
    });
    this.busy = true;
    for (const [name, problem] of await this.patternProblems(tried)) problems.set(name, problem);
    this.busy = false;
    if (this.step !== "fields") return;
    for (const [name, problem] of content(this.form, answers).problems ?? []) if (!problems.has(name)) problems.set(name, problem);
    this.problems = problems;
    if (!problems.size) return this.compose(answers), this.go("summary");
    this.draw();
    this.focus();
  }

  compose(answers) {
    this.answers = answers;
    this.result = `{"action":"accept","content":${content(this.form, answers).text}}`;
  }

  // composeRaw takes JSON as it is typed, where a form is none that can be drawn.
  composeRaw(e) {
    e.preventDefault();
    const text = this.element.querySelector("textarea").value.trim();
    try {
      const value = JSON.parse(text);
      if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("expected an object, such as {\"name\":\"Ann\"}");
    } catch (problem) {
      this.problems = new Map([["", problem.message]]);
      return this.draw();
    }
    this.problems = new Map();
    this.answers = undefined;
    this.result = `{"action":"accept","content":${text}}`;
    this.go("summary");
  }

  accept() {
    this.send(this.result);
  }

  decline() {
    this.send('{"action":"decline"}');
  }

  cancel() {
    this.send('{"action":"cancel"}');
  }

  // open is the one place that leads out of the console, after a confirmation.
  open() {
    if (!this.ready) return;
    window.open(this.link.href, "_blank", "noopener,noreferrer");
    this.send('{"action":"accept"}');
  }

  // send answers. The same answer has the same id, so that one whose receipt was lost
  // counts once.
  async send(result) {
    if (!this.ready) return;
    const { app, ask } = this;
    if (this.sent.text !== result) this.sent = { text: result, id: api.newID() };
    this.sending = ask.sending = true;
    this.trouble = undefined;
    this.draw();
    try {
      await api.send(app.address.space, answerTo(this.text, ask.from, app.store, this.sent.id, ["result", result]));
      this.done();
    } catch (problem) {
      if (problem.code === "duplicate_id") this.done();
      else if (problem.code === "invalid_correlation") this.late();
      else this.trouble = problem;
    } finally {
      this.sending = ask.sending = false;
      this.draw();
    }
  }

  done() {
    this.step = "ended";
    this.app.asks.end(this.ask, "You answered it.");
    this.close();
  }

  late() {
    this.ask.sending = false;
    this.app.asks.end(this.ask, "Nobody waits for that any more: it was answered elsewhere, or is no longer asked.");
  }

  endedView() {
    return html`<p class="outcome" role="status" tabindex="-1"><strong>Nothing is left to answer.</strong> ${visible(this.ask.ended)}</p>
      <div class="buttons"><button @click=${() => this.close()}>Close</button></div>`;
  }

  view() {
    if (this.step === "loading") return html`${this.troubleView()}${this.trouble ? html`<div class="buttons"><button @click=${() => this.load()}>Try again</button></div>` : html`<p class="quiet">Loading…</p>`}`;
    const fields = this.step === "fields";
    return html`
      <p class="why">${this.cause ? html`It is asked ${this.cause}. ` : nothing}${this.link ? nothing : html`<span class="quiet">Answers are on record, for everybody in the room: never type a secret.</span>`}</p>
      ${this.troubleView()}
      ${this.form?.fields.length ? html`<form class="fill" novalidate ?hidden=${!fields} @submit=${(e) => this.review(e)} @change=${(e) => this.changed(e)} @keydown=${(e) => this.key(e)}>
        <div class="scroll" tabindex="-1">
          ${this.messageView()}
          ${this.problems.size ? html`<p class="problem" role="alert">${this.problems.size === 1 ? "1 answer does" : `${this.problems.size} answers do`} not fit yet.</p>` : nothing}
          ${this.form.fields.map((f, i) => fieldView(f, i, this.problems.get(f.name)))}
        </div>
        ${this.buttons(html`<button class="primary" id="review-answers">Review…</button>`)}
      </form>` : nothing}
      ${this.step === "summary" ? this.summaryView() : nothing}
      ${this.step === "link" || this.step === "opening" ? linkView(this) : nothing}
      ${this.odd ? this.oddView() : nothing}`;
  }

  key(e) {
    if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey)) return;
    e.preventDefault();
    e.currentTarget.requestSubmit();
  }

  messageView(message = this.form.message) {
    return html`<blockquote class="asked" tabindex="0" aria-label="What is asked"><bdi>${visible(message)}</bdi></blockquote>`;
  }

  troubleView() {
    const { trouble } = this;
    if (!trouble) return nothing;
    return html`<p class="problem" role="alert">${visible(trouble.message)} ${trouble.hint ? html`<span class="quiet">${visible(trouble.hint)}</span>` : nothing}${this.step === "loading" ? nothing : html`<br><span class="quiet">Nothing you typed is lost.</span>`}</p>`;
  }

  // buttons are what can be done: first a step on, then what says no.
  buttons(first) {
    return html`
      <div class="buttons">
        ${first}
        <span class="grow"></span>
        <button type="button" class="danger" id="decline" aria-disabled=${!this.ready} @click=${() => this.decline()} title="Say no: the asker is told that you declined">Decline</button>
        <button type="button" id="cancel" aria-disabled=${!this.ready} @click=${() => this.cancel()} title="Put it away for good: the asker is told that you did not decide">Cancel the request</button>
      </div>`;
  }

  summaryView() {
    const empty = this.form && !this.form.fields.length;
    const back = () => this.go(this.odd ? "odd" : "fields");
    const send = html`<button class="primary" id="send" aria-disabled=${!this.ready} @click=${() => this.accept()}>${this.sending ? "Sending…" : html`${empty ? "Agree, and tell" : "Send to"} ${visible(clip(this.ask.from, 40))}`}</button>`;
    return html`
      <section class="fill">
        <div class="scroll" tabindex="0" role="group" aria-label="What will be sent">
          ${empty ? html`${this.messageView()}<p>There is nothing to fill in: agreeing is the answer.</p>` : html`<p>This goes to ${person(this.ask.from)}:</p>`}
          ${this.answers?.size || (this.answers && !empty) ? html`<dl class="facts">${this.form.fields.map((f) => html`<dt><bdi>${visible(label(f))}</bdi></dt><dd class="code">${this.answerView(f)}</dd>`)}</dl>` : nothing}
          <details class="exact" open><summary>Exactly as it will be sent <span class="quiet">result, ${size(byteLength(this.result))}</span></summary>
            <pre class="block bytes"><code>${visible(this.result.slice(0, mostShown))}</code></pre>
            ${this.result.length > mostShown ? html`<p class="warning">Only the first ${size(mostShown)} are shown.</p>` : nothing}
          </details>
        </div>
        ${empty ? this.buttons(send) : html`<div class="buttons">${send}<button @click=${back}>Back</button></div>`}
      </section>`;
  }

  answerView(field) {
    const json = this.answers.get(field.name);
    return json === undefined ? html`<span class="quiet">left out</span>` : html`<bdi>${visible(clip(json, mostValue))}</bdi>`;
  }

  // oddView shows what is no form plainly, and takes JSON where an object is wanted.
  oddView() {
    const takes = at(this.params, "requestedSchema")?.startsWith("{");
    const problem = this.problems.get("");
    return html`
      <form class="fill" ?hidden=${this.step !== "odd"} @submit=${(e) => this.composeRaw(e)} @keydown=${(e) => this.key(e)}>
        <div class="scroll" tabindex="-1">
          <p class="warning">This cannot be shown as a form: ${visible(clip(this.odd, 600))}</p>
          <h3>What was asked, as it came <span class="quiet">${size(byteLength(this.params))}</span></h3>
          <pre class="block" tabindex="0"><code>${visible(indent(this.params.slice(0, mostShown)))}</code></pre>
          ${this.params.length > mostShown ? html`<p class="quiet">The first ${size(mostShown)} are shown.</p>` : nothing}
          ${takes ? html`<div class="field"><label for="raw-answer">Your answer, as a JSON object</label>
            <p class="quiet small" id="raw-about">It is sent as you type it; the asker checks it.</p>
            <textarea id="raw-answer" class="code" rows="4" spellcheck="false" aria-describedby="raw-about raw-problem" aria-invalid=${problem ? "true" : nothing}></textarea>
            <p class="wrong" id="raw-problem" role="alert">${problem ? visible(problem) : nothing}</p></div>` : nothing}
        </div>
        ${this.buttons(takes ? html`<button class="primary" id="review-answers">Review…</button>` : nothing)}
      </form>`;
  }
}
