// How the webhooks of a space do, and what they gave up sending.
import { html, nothing } from "../vendor/lit-3.3.3.js";
import * as api from "../base/api.js";
import { Dialog } from "../base/dialog.js";
import { ago, clip, clock, visible } from "../base/text.js";

const mostHooks = 100;
const mostLetters = 100;

const tones = { active: "good", paused: "warn", disabled: "bad" };

export class Webhooks {
  constructor(app) {
    this.app = app;
    this.items = [];
    this.letters = new Map(); // of those that are unfolded, by name
  }

  get space() {
    return this.app.address.space;
  }

  async load() {
    try {
      this.items = (await api.webhooks(this.space)).items;
      this.lacking = false;
      await Promise.all([...this.letters.keys()].map((name) => this.loadLetters(name)));
    } catch (problem) {
      this.items = [];
      this.lacking = problem.status === 403;
      this.app.refused(problem);
    }
  }

  async loadLetters(name) {
    try {
      this.letters.set(name, (await api.deadLetters(this.space, name)).items);
    } catch (problem) {
      this.app.fail(problem);
    }
    this.app.changed();
  }

  unfold(name, open) {
    if (open === this.letters.has(name)) return;
    if (!open) return this.letters.delete(name);
    this.letters.set(name, []);
    this.loadLetters(name);
  }

  async act(what) {
    try {
      await what();
    } catch (problem) {
      this.app.fail(problem);
    }
    await this.load();
    this.app.changed();
  }

  view() {
    if (this.lacking) return html`<section class="servers"><h2>Webhooks</h2><p class="quiet small">To see how they do takes a right that you lack: <code>space/webhook</code>.</p></section>`;
    if (!this.items.length) return nothing;
    return html`<section class="servers webhooks" aria-labelledby="webhooks"><h2 id="webhooks">Webhooks <span class="count">${this.items.length.toLocaleString("en")}</span></h2>
      <ul>${this.items.slice(0, mostHooks).map((h) => this.hook(h))}</ul></section>`;
  }

  hook(h) {
    const now = Date.now();
    const { last } = h;
    return html`<li>
      <header><strong><bdi>${visible(clip(h.name, 100))}</bdi></strong> <span class="badge ${tones[h.state] ?? "dim"}">${visible(h.state)}</span> <bdi class="quiet code">${visible(clip(h.url, 200))}</bdi><span class="grow"></span>
        ${h.state === "disabled" ? html`<button @click=${() => this.act(() => api.enableWebhook(this.space, h.name))}>Enable</button>` : nothing}</header>
      <p class="quiet small">${[
        `${h.delivered.toLocaleString("en")} delivered since the start`,
        `${h.pending.toLocaleString("en")} waiting${h.oldest ? `, the oldest for ${ago(h.oldest, now).replace(/ ago$/, "")}` : ""}`,
        h.next && `sent again ${ago(h.next, now)}`,
        h.until && `paused, goes on ${ago(h.until, now)}`,
        h.lost && `${h.lost} lost`,
        last && `last answered ${clock(last.at)}: ${last.problem || last.status} in ${last.took_ms} ms`,
        h.reason,
      ].filter(Boolean).map((s) => visible(clip(String(s), 300))).join(" · ")}</p>
      ${h.dead ? html`<details ?open=${this.letters.has(h.name)} @toggle=${(e) => this.unfold(h.name, e.target.open)}><summary>Given up <span class="count hot">${h.dead.toLocaleString("en")}</span></summary>${this.letters.has(h.name) ? this.dead(h) : nothing}</details>` : nothing}
    </li>`;
  }

  dead(h) {
    const letters = this.letters.get(h.name);
    const again = (id) => this.act(() => api.retryDead(this.space, h.name, id));
    const drop = (id) => this.app.show(new DropDialog(this.app, h, id, () => this.act(() => api.dropDead(this.space, h.name, id))));
    return html`
      <div class="buttons"><button @click=${() => again()}>Send all again</button><button class="danger" @click=${() => drop()}>Drop all…</button></div>
      <div class="over" tabindex="0"><table><thead><tr><th scope="col">Event</th><th scope="col">of</th><th scope="col">tries</th><th scope="col">last answer</th><th scope="col"><span class="sr">What to do</span></th></tr></thead>
        <tbody>${letters.slice(0, mostLetters).map((l) => html`<tr>
          <th scope="row">${visible(l.event)}${l.proposal ? html` <bdi class="quiet code">${visible(clip(l.proposal, 60))}</bdi>` : nothing}</th><td>${clock(l.at)}</td><td>${l.attempts}</td>
          <td><bdi>${visible(clip([l.status, l.problem].filter(Boolean).join(" "), 200))}</bdi></td>
          <td><button class="plain" @click=${() => again(l.id)} aria-label="Send again ${visible(l.id)}">Send again</button><button class="plain" @click=${() => drop(l.id)} aria-label="Drop ${visible(l.id)}">Drop…</button></td></tr>`)}</tbody></table></div>
      ${letters.length > mostLetters ? html`<p class="quiet small">The first ${mostLetters} are listed.</p>` : nothing}`;
  }
}

class DropDialog extends Dialog {
  constructor(app, hook, id, drop) {
    super(app);
    Object.assign(this, { hook, id, drop });
  }

  view() {
    const { hook, id } = this;
    return this.frame(
      html`Drop ${id ? "an event" : "all that was given up"}`,
      html`
        <p>${id ? html`<bdi class="code">${visible(id)}</bdi> is` : html`${hook.dead === 1 ? "The event is" : `All ${hook.dead.toLocaleString("en")} events are`}`} forgotten, and <bdi>${visible(clip(hook.name, 100))}</bdi> is never told. The record keeps what happened.</p>
        <div class="buttons"><button id="confirm" class="danger" @click=${() => (this.close(), this.drop())}>Drop</button><button autofocus @click=${() => this.close()}>Back</button></div>`,
      "help",
    );
  }
}
