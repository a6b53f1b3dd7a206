// How the gateway does: its rates, what it refuses, how long its journal takes, and the
// servers that it runs.
import { html, nothing } from "../vendor/lit-3.3.3.js";
import * as api from "../base/api.js";
import { OrderDialog } from "../base/dialog_order.js";
import { Plot } from "./plot.js";
import { person } from "../base/row.js";
import { Sampler } from "./sampler.js";
import { ago, clip, clock, size, visible } from "../base/text.js";
import { Webhooks } from "./webhooks.js";

const spans = [5, 15]; // minutes
const mostRows = 50;
const often = 5_000; // milliseconds between questions how servers do, and whether all is ready
const soon = 1_000; // while one of them starts

// Each state of a server in a colour beside the word.
const tones = { starting: "info", restarting: "warn", running: "good", failed: "bad", stopped: "dim" };

export class HealthPage {
  static name = "health";
  static label = "Health";

  constructor(app) {
    this.app = app;
    this.span = 15;
    this.webhooks = new Webhooks(app);
    const plot = (given) => new Plot(app, given);
    this.plots = [
      plot({ title: "Envelopes", note: "a second", show: rate, least: 1, series: [{ name: "admitted", label: "on record" }, { name: "refused", label: "refused" }] }),
      plot({ title: "Delivered", note: "to connections, a second", show: (n) => size(Math.round(n)), least: 1000, series: [{ name: "delivered", label: "bytes" }] }),
      plot({ title: "Until durable", note: "the journal's commit", show: duration, least: 1, series: [{ name: "median", label: "half within" }, { name: "slow", label: "99 of 100 within" }] }),
      plot({ title: "Queues", note: "envelopes", show: count, least: 4, series: [{ name: "waiting", label: "to be judged" }, { name: "behind", label: "behind" }, { name: "unindexed", label: "to be indexed" }] }),
      plot({ title: "Here", note: "now", show: count, least: 4, series: [{ name: "connections", label: "connections" }, { name: "present", label: "participants" }] }),
      plot({ title: "Tokens saved", note: "a second, by shorter answers", show: rate, least: 10, series: [{ name: "saved", label: "tokens" }] }),
    ];
  }

  get space() {
    return this.app.address.space;
  }

  commands() {
    const all = this.bridges?.may_restart ? this.bridges.items : [];
    return [
      { label: "The last 5 or 15 minutes", keys: ["w"], act: () => this.look(this.span === 5 ? 15 : 5) },
      ...all.slice(0, mostRows).map((b) => ({ label: `Restart ${visible(b.participant)}…`, act: () => this.restart(b) })),
    ];
  }

  look(span) {
    this.span = span;
    this.app.changed();
  }

  update() {
    this.sampler ??= new Sampler(this.space, { changed: () => this.sampled(), failed: (problem) => this.app.refused(problem) });
    if (this.watched) return;
    this.watched = true;
    this.sampler.pace(true);
    this.ask();
  }

  hidden() {
    this.watched = false;
    clearTimeout(this.timer);
    this.sampler?.pace(false);
  }

  stop() {
    this.stopped = true;
    this.hidden();
    this.sampler?.stop();
  }

  sampled() {
    if (this.app.page === this) this.app.changed();
  }

  // ask looks at what is in no figure, while the page is shown.
  async ask() {
    clearTimeout(this.timer);
    if (this.app.page !== this) return this.hidden();
    if (!document.hidden) {
      await Promise.all([this.askReady(), this.askServers(), this.askHead(), this.webhooks.load()]);
      this.sampled();
    }
    const moving = this.bridges?.items.some((b) => b.state === "starting" || b.state === "restarting" || Date.parse(b.retry_at) < Date.now() + often);
    if (this.watched && !this.stopped) this.timer = setTimeout(() => this.ask(), moving ? soon : often);
  }

  async askReady() {
    try {
      await api.ready();
      this.ready = { yes: true };
    } catch (problem) {
      this.ready = { problem };
    }
  }

  async askHead() {
    try {
      this.head = await api.head(this.space);
    } catch (problem) {
      this.app.refused(problem);
    }
  }

  async askServers() {
    try {
      this.bridges = await api.bridges(this.space);
      this.bridgesProblem = undefined;
    } catch (problem) {
      this.bridgesProblem = problem;
      this.app.refused(problem);
    }
  }

  restart(b) {
    const up = b.state === "running" || b.state === "starting";
    this.app.show(
      new OrderDialog(this.app, {
        title: html`Restart ${person(b.participant)}`,
        says: html`${up ? html`${person(b.participant)} is ended and started again. What it was asked and has not answered fails, and sessions that it keeps are lost.` : html`${person(b.participant)} is started at once.`}`,
        verb: html`Restart ${person(b.participant)}`,
        danger: up,
        kind: "space/restart-bridge",
        payload: { participant: b.participant },
        done: () => this.ask(),
      }),
    );
  }

  view() {
    const { sampler } = this;
    const points = sampler?.points ?? [];
    return html`
      <main class="health" id="main">
        <header><h1>Health</h1><span class="grow"></span>
          <fieldset class="spans"><legend class="sr">Show the last</legend>${spans.map((m) => html`<label class="check"><input type="radio" name="span" .checked=${m === this.span} @change=${() => this.look(m)}> ${m} min</label>`)}</fieldset></header>
        ${this.trouble()}
        ${this.facts()}
        <div class="plots">${this.plots.map((p) => p.view(points, this.span * 60_000))}</div>
        <div class="tables">${sampler?.figures ? html`${this.refusals()} ${this.saved()}` : nothing}</div>
        ${this.servers()} ${this.webhooks.view()}
      </main>`;
  }

  trouble() {
    const problem = this.sampler?.problem;
    if (!problem) return nothing;
    const kept = problem.status === 401 || problem.status === 403 || problem.status === 404;
    return html`<p class="problem" role="alert">${kept
      ? html`The figures are kept from you (${problem.status}). <code>GET /metrics</code> takes a token or session of a participant of this space, and shows its own spaces; a proxy in front of the gateway may keep it back.`
      : html`The figures cannot be read: ${visible(problem.message)}`}</p>`;
  }

  facts() {
    const { sampler, ready, head } = this;
    const disk = (file) => sampler?.value("parley_journal_size_bytes", { file });
    const journal = [disk("record"), disk("wal"), disk("search")].filter((n) => n !== undefined);
    const free = sampler?.value("parley_journal_disk_free_bytes");
    const started = sampler?.value("process_start_time_seconds");
    const memory = sampler?.value("process_resident_memory_bytes");
    const build = sampler?.figures?.get("parley_build_info")?.[0]?.labels;
    const fact = (label, value, more = nothing) => html`<div><dt>${label}</dt><dd>${value ?? "…"}</dd>${more === nothing ? nothing : html`<dd class="quiet small">${more}</dd>`}</div>`;
    return html`<dl class="tiles">
      ${fact("Takes envelopes", !ready ? undefined : ready.yes ? html`<span class="badge good">ready</span>` : html`<span class="badge bad">not ready</span>`, ready?.problem ? visible(clip(ready.problem.message, 300)) : nothing)}
      ${fact("On record", head && head.last.toLocaleString("en"), head ? html`epoch <bdi class="code">${visible(clip(head.epoch, 40))}</bdi>` : nothing)}
      ${fact("Journal", journal.length ? size(journal.reduce((a, b) => a + b, 0)) : sampler?.figures ? "in memory" : undefined, free === undefined ? nothing : html`${size(free)} free`)}
      ${fact("Open proposals", sampler?.figures && count(sampler.ours("parley_proposals_open") ?? 0))}
      ${fact("Running", started && ago(started * 1000, Date.now()).replace(/ ago$/, "").replace("just now", "a moment"), memory ? html`${size(memory)} of memory` : nothing)}
      ${fact("Version", build && html`<bdi>${visible(clip(build.get("version") ?? "", 60))}</bdi>`, build ? html`<bdi>${visible(clip([build.get("revision")?.slice(0, 12), build.get("goversion")].filter(Boolean).join(", "), 60))}</bdi>` : nothing)}
    </dl>`;
  }

  refusals() {
    const rows = this.sampler.refusals();
    return html`<section aria-labelledby="refusals"><h2 id="refusals">Refusals</h2>
      ${rows.length ? html`<div class="over" tabindex="0"><table><thead><tr><th scope="col">Code</th><th scope="col">while you look</th><th scope="col">since the start</th></tr></thead>
        <tbody>${rows.slice(0, mostRows).map((r) => html`<tr><th scope="row"><code>${visible(clip(r.code, 80))}</code></th><td>${count(r.lately)}</td><td>${count(r.all)}</td></tr>`)}</tbody></table></div>`
        : html`<p class="quiet">Nothing was refused since the gateway started.</p>`}</section>`;
  }

  saved() {
    const rows = this.sampler.saved();
    return html`<section aria-labelledby="saved"><h2 id="saved">Tokens saved, by who was answered</h2>
      ${rows.length ? html`<div class="over" tabindex="0"><table><thead><tr><th scope="col">Participant</th><th scope="col">answers</th><th scope="col">tokens</th><th scope="col">saved</th></tr></thead>
        <tbody>${rows.slice(0, mostRows).map((r) => html`<tr><th scope="row">${person(clip(r.id, 100))}</th><td>${count(r.answers)}</td><td>${count(r.used)}</td><td>${count(r.saved)}</td></tr>`)}</tbody></table></div>`
        : html`<p class="quiet">No tool of this gateway has answered in the response envelope yet.</p>`}</section>`;
  }

  servers() {
    const { bridges, bridgesProblem } = this;
    if (bridgesProblem) return html`<p class="problem" role="alert">${visible(bridgesProblem.message)}</p>`;
    if (!bridges) return nothing;
    return html`<section class="servers" aria-labelledby="servers"><h2 id="servers">Servers <span class="count">${bridges.items.length.toLocaleString("en")}</span></h2>
      ${bridges.items.length ? nothing : html`<p class="quiet">The gateway runs no MCP servers of this space.</p>`}
      ${bridges.items.length && !bridges.may_restart ? html`<p class="quiet small">To restart one, and to see what it wrote last, takes a right that you lack: <code>space/restart-bridge</code>.</p>` : nothing}
      <ul>${bridges.items.slice(0, 200).map((b) => this.server(b))}</ul></section>`;
  }

  server(b) {
    const now = Date.now();
    const said = (b.stderr ?? []).map((s) => visible(clip(s, 1200))).join("\n");
    return html`<li>
      <header>${person(b.participant)} <span class="badge ${tones[b.state] ?? "dim"}">${visible(b.state)}</span> <span class="quiet">${clock(b.since)}, ${ago(b.since, now)}</span><span class="grow"></span>
        ${this.bridges.may_restart ? html`<button class="restart" @click=${() => this.restart(b)}>Restart…</button>` : nothing}</header>
      <p class="quiet small">${[
        b.transport,
        b.protocol && `MCP ${b.protocol}`,
        b.tools !== undefined && `${b.tools} tools`,
        b.pid && `process ${b.pid}`,
        `${b.restarts} ${b.restarts === 1 ? "restart" : "restarts"}`,
        b.failures && `failed ${b.failures} times in a row`,
        b.retry_at && `tried again ${ago(b.retry_at, now)}`,
      ].filter(Boolean).map((s) => visible(clip(String(s), 100))).join(" · ")}</p>
      ${b.last_exit ? html`<p class="small">Ended ${clock(b.last_exit.at)}, ${ago(b.last_exit.at, now)}: <bdi>${visible(clip(b.last_exit.reason, 600))}</bdi></p>` : nothing}
      ${said ? html`<details><summary>Last lines of its errors <span class="quiet">${b.stderr.length}</span></summary><pre class="block" tabindex="0"><code>${said}</code></pre></details>` : nothing}
    </li>`;
  }
}

const count = (n) => (n === undefined ? "–" : Number(n.toPrecision(3)) === n || n >= 1000 ? Math.round(n).toLocaleString("en") : String(Number(n.toPrecision(3))));
const rate = (n) => (n >= 1000 ? Math.round(n).toLocaleString("en") : String(Number(n.toPrecision(n < 10 ? 2 : 3)))) + "/s";
const duration = (ms) => (ms >= 1000 ? `${Number((ms / 1000).toPrecision(3))} s` : `${Number(ms.toPrecision(ms < 10 ? 2 : 3))} ms`);
