// Who is here and who may come; and of the one that is looked at, what they may send,
// who let them, what they serve, and what the gateway says of a message of theirs.
import { html, keyed, live, nothing, repeat } from "../vendor/lit-3.3.3.js";
import * as api from "../base/api.js";
import { GrantDialog } from "./dialog_grant.js";
import { OrderDialog } from "../base/dialog_order.js";
import { indent } from "../base/raw.js";
import { parse, text, ungranted, words } from "./rights.js";
import { person } from "../base/row.js";
import { Tester } from "./tester.js";
import { ago, clip, clock, counted, oneLine, visible } from "../base/text.js";

const mostListed = 200; // of those who are here, and of those who are not
const mostTools = 500;
const mostNotices = 20; // that are read for what tools say of themselves
const often = 2000; // milliseconds: the gateway is asked at most so often
const orders = ["capability/grant", "capability/revoke", "space/kick", "space/accept-tool"];

export class PeoplePage {
  static name = "people";
  static label = "People";

  constructor(app) {
    this.app = app;
    this.words = "";
    this.here = { items: [], total: 0 };
    this.away = { items: [], total: 0 };
    this.may = {};
    this.definitions = new Map(); // of the notices that were read
    this.testers = new Map();
  }

  get space() {
    return this.app.address.space;
  }

  get id() {
    return this.app.address.who || this.app.me;
  }

  commands() {
    return [
      { label: "Next participant", keys: ["j"], repeat: true, act: () => this.move(1) },
      { label: "Previous participant", keys: ["k"], repeat: true, act: () => this.move(-1) },
      { label: "Look for a participant", keys: ["/"], act: () => document.querySelector("input[name=people]")?.focus() },
      { label: "Grant a right…", keys: ["g"], act: () => this.grant() },
      { label: "May they send this?", keys: ["m"], act: () => document.getElementById("tester")?.focus() },
      ...(this.one?.id === this.id && this.one.present && this.id !== this.app.me && this.may["space/kick"] ? [{ label: `Kick ${visible(this.id)}…`, act: () => this.kick() }] : []),
    ];
  }

  // update asks the gateway again once something happened that may change the answer.
  update() {
    if (this.app.store.changes !== this.asked || this.words !== this.askedFor || this.id !== this.askedOf) this.soon();
  }

  soon() {
    if (this.timer || this.loading) return;
    const wait = this.words !== this.askedFor ? 150 : this.id !== this.askedOf ? 0 : Math.max(150, often - (performance.now() - this.askedAt));
    this.timer = setTimeout(() => this.load(), wait);
  }

  hidden() {
    clearTimeout(this.timer);
    clearTimeout(this.clock);
    this.timer = undefined;
  }

  stop() {
    this.stopped = true;
    this.hidden();
  }

  async load() {
    this.timer = undefined;
    if (document.hidden) return document.addEventListener("visibilitychange", () => this.app.changed(), { once: true });
    this.loading = true;
    const { words, id } = this;
    Object.assign(this, { asked: this.app.store.changes, askedFor: words, askedOf: id, askedAt: performance.now() });
    await Promise.all([this.loadList(words), this.loadOne(id), this.loadOrders()]);
    this.loading = false;
    if (!this.stopped) this.app.changed();
  }

  async loadList(words) {
    const given = (present) => ({ present, limit: mostListed, ...(words ? { q: words } : {}) });
    try {
      [this.here, this.away] = await Promise.all([api.participants(this.space, given(true)), api.participants(this.space, given(false))]);
      this.problem = undefined;
    } catch (problem) {
      this.failed(problem);
    }
  }

  async loadOne(id) {
    try {
      const [one, tools] = await Promise.all([api.participant(this.space, id), api.tools(this.space, id)]);
      Object.assign(this, { one, tools: tools.items, unknown: undefined });
      await this.loadDefinitions();
    } catch (problem) {
      if (problem.status === 404) Object.assign(this, { one: undefined, unknown: id });
      else this.failed(problem);
    }
  }

  // loadDefinitions reads what tools say of themselves from the notices that told of
  // them. A notice does not change, and is read once.
  async loadDefinitions() {
    const wanted = [...new Set(this.tools.slice(0, mostTools).map((t) => t.notice))].filter((seq) => seq && !this.definitions.has(seq));
    await Promise.all(wanted.slice(0, mostNotices).map(async (seq) => {
      const known = new Map();
      this.definitions.set(seq, known);
      const [notice] = (await api.at(this.space, seq)).items;
      for (const t of notice?.payload?.tools ?? []) known.set(t.name, t);
    }));
  }

  definition(tool) {
    return this.definitions.get(tool.notice)?.get(tool.tool);
  }

  // loadOrders asks what we may order here, so that what would be refused is not offered.
  async loadOrders() {
    const mine = JSON.stringify(this.app.store.me?.capabilities);
    if (mine === this.mine) return;
    this.mine = mine;
    try {
      const answers = await Promise.all(orders.map((kind) => api.may(this.space, this.app.me, { kind })));
      this.may = Object.fromEntries(orders.map((kind, i) => [kind, answers[i].allowed || answers[i].depends === true]));
    } catch (problem) {
      this.mine = undefined;
      this.failed(problem);
    }
  }

  failed(problem) {
    if (this.stopped) return;
    this.app.refused(problem);
    this.problem = problem;
  }

  get listed() {
    return [...this.here.items, ...this.away.items];
  }

  move(by) {
    const ids = this.listed.map((p) => p.id);
    const id = ids[Math.min(ids.length - 1, Math.max(0, ids.indexOf(this.id) + by))];
    if (id) this.select(id);
  }

  select(id) {
    this.app.go({ who: id });
    requestAnimationFrame(() => document.querySelector(".people-list [aria-current=true]")?.scrollIntoView({ block: "nearest" }));
  }

  tester() {
    if (!this.testers.has(this.id)) {
      if (this.testers.size > 50) this.testers.clear();
      this.testers.set(this.id, new Tester(this.app, this.id));
    }
    return this.testers.get(this.id);
  }

  // servers are who can be named as one: those who serve tools, then others.
  get servers() {
    return [...this.listed].sort((a, b) => (b.tools ?? 0) - (a.tools ?? 0)).map((p) => p.id);
  }

  toolNames(server) {
    return (this.one?.id === server || !server ? this.tools ?? [] : []).map((t) => t.tool).slice(0, mostTools);
  }

  // done is called once an order is on record; what came of it is looked at.
  done() {
    this.asked = undefined;
    this.askedAt = 0;
    this.app.changed();
  }

  grant() {
    if (this.one?.id !== this.id || this.id === this.app.me || !this.may["capability/grant"]) return;
    this.app.show(new GrantDialog(this.app, this.id, { servers: this.servers, tools: (server) => this.toolNames(server), done: () => this.done() }));
  }

  order(what) {
    this.app.show(new OrderDialog(this.app, { ...what, done: () => this.done() }));
  }

  kick() {
    const { id, one } = this;
    this.order({
      title: html`Kick ${person(id)}`,
      says: html`${one.connections === 1 ? "The connection" : `All ${one.connections} connections`} of ${person(id)} ${one.connections === 1 ? "is" : "are"} closed, and what it was asked stays unanswered. It may come back: to keep it out, revoke what it may send.`,
      verb: html`Kick ${person(id)}`,
      danger: true,
      kind: "space/kick",
      payload: { participant: id },
    });
  }

  revoke(capability, grant) {
    const { id } = this;
    const whole = grant && grant.capabilities.length > 1;
    this.order({
      title: html`Revoke from ${person(id)}`,
      says: html`${person(id)} no longer <bdi>${visible(words(capability))}</bdi>${grant && !whole ? " by this grant" : ", whoever gave it"}. What it gave to others by that right ends as well${grant ? "" : ", and it does not come back when the gateway starts again"}.`,
      verb: "Revoke",
      danger: true,
      kind: "capability/revoke",
      payload: { recipient: id, ...(grant && !whole ? { grant_id: grant.id } : { capabilities: [capability] }) },
    });
  }

  accept(tool) {
    const known = this.definition(tool);
    this.order({
      title: html`Accept <bdi>${visible(clip(tool.tool, 160))}</bdi> of ${person(tool.participant)}`,
      says: html`The definition as it is now becomes the accepted one${this.one?.pinned ? ": until then nobody can call the tool" : ""}.`,
      more: html`
        <h3>What changed</h3><p class="warning"><bdi>${visible(clip(String(tool.changed ?? ""), 1000))}</bdi></p>
        <h3>The definition now</h3>${known?.definition ? html`<pre class="block" tabindex="0"><code>${visible(clip(indent(JSON.stringify(known.definition)), 20_000))}</code></pre>` : html`<p class="quiet">It is too large to be on record: look at it at the server.</p>`}`,
      verb: "Accept",
      kind: "space/accept-tool",
      payload: { participant: tool.participant, tool: tool.tool, digest: tool.digest },
    });
  }

  // drawn has times that run shown anew, the last two minutes of a right by the second.
  drawn() {
    clearTimeout(this.clock);
    const ends = (this.one?.grants ?? []).map((g) => Date.parse(g.expires) - Date.now()).filter((ms) => ms > -5000);
    this.clock = setTimeout(() => this.app.page === this && !document.hidden && this.app.changed(), Math.min(...ends) < 120_000 ? 1000 : 20_000);
  }

  view() {
    const { here, away, problem } = this;
    return html`
      <main class="people-page" id="main">
        <h1 class="sr">People</h1>
        <section class="people-list" aria-label="Participants">
          <form class="filters" role="search" @submit=${(e) => e.preventDefault()}>
            <label class="choice grow"><span class="sr">Look for a participant</span><input name="people" type="search" placeholder="Look for a participant  /" maxlength="64"
              .value=${live(this.words)} @input=${(e) => ((this.words = e.target.value.trim()), this.app.changed())}></label>
          </form>
          ${problem ? html`<p class="problem" role="alert">${visible(problem.message)} ${problem.hint ? visible(problem.hint) : nothing}</p>` : nothing}
          ${this.group("Here now", here, "Nobody is here.")} ${this.group("May come", away, "")}
        </section>
        <article class="detail" aria-label="Participant">${keyed(this.id, this.detail())}</article>
      </main>`;
  }

  group(label, { items, total }, none) {
    return html`
      <h2>${label} <span class="count">${total.toLocaleString("en")}</span></h2>
      ${items.length || !none ? nothing : html`<p class="quiet">${this.words ? "Nobody whose id has that in it." : none}</p>`}
      <ul>${repeat(items, (p) => p.id, (p) => this.entry(p))}</ul>
      ${total > items.length ? html`<p class="quiet small">The first ${items.length.toLocaleString("en")} are listed: look for the others.</p>` : nothing}`;
  }

  entry(p) {
    const grants = p.grants?.length ?? 0;
    return html`<li><button class="card" aria-current=${p.id === this.id} @click=${() => this.select(p.id)}>
      <span class="entry"><span class="dot ${p.present ? "" : "away"}"></span><span class="grow name">${person(p.id)}${p.id === this.app.me ? html` <span class="quiet">you</span>` : nothing}</span>
      ${p.tools ? html`<span class="quiet small">${counted(p.tools, "tool")}</span>` : nothing}${grants ? html`<span class="badge info">${counted(grants, "grant")}</span>` : nothing}</span></button></li>`;
  }

  detail() {
    const { one, id } = this;
    if (this.unknown === id) return html`<div class="empty"><p>Nobody here is called <bdi>${visible(clip(id, 100))}</bdi>.</p></div>`;
    if (one?.id !== id) return html`<p class="quiet">Loading…</p>`;
    const mine = id === this.app.me;
    return html`
      <header><h2>${person(id)}${mine ? html` <span class="quiet">you</span>` : nothing}</h2>
        <span class="badge ${one.present ? "good" : "dim"}">${one.present ? "here" : "not here"}</span>
        ${one.present ? html`<span class="quiet">since ${clock(one.since)}, ${ago(one.since, Date.now())} · ${counted(one.connections, "connection")}</span>` : nothing}</header>
      <div class="buttons">
        ${!mine && this.may["capability/grant"] ? html`<button id="grant" class="primary" @click=${() => this.grant()}>Grant… <kbd>g</kbd></button>` : nothing}
        ${!mine && one.present && this.may["space/kick"] ? html`<button id="kick" class="danger" @click=${() => this.kick()}>Kick…</button>` : nothing}
        <button @click=${() => this.app.go({ page: "room", from: id, who: "" })}>What concerns ${mine ? "you" : "them"} in the room</button>
      </div>
      ${this.lacking(mine)} ${this.rights(one)} ${this.serves(one)}
      <section><h3>May ${mine ? "you" : "they"} send this?</h3>${this.tester().view(this.servers, (server) => this.toolNames(server))}</section>
      ${this.limits()}`;
  }

  // lacking names what we may not do here, and which right that takes.
  lacking(mine) {
    if (mine || !this.mine) return nothing;
    const missing = ["capability/grant", "capability/revoke", "space/kick"].filter((kind) => this.may[kind] === false);
    if (!missing.length) return nothing;
    return html`<p class="quiet small">What you may not do here takes a right that you lack: ${missing.map((kind, i) => html`${i ? ", " : ""}<code>${kind}</code>`)}.</p>`;
  }

  rights({ capabilities = [], grants = [] }) {
    const own = ungranted(capabilities, grants);
    return html`
      <section aria-label="Rights"><h3>What ${this.id === this.app.me ? "you" : "they"} may send</h3>
        ${capabilities.length ? nothing : html`<p class="quiet">Nothing: they listen.</p>`}
        <ul class="rights">
          ${own.slice(0, 500).map((c) => this.right(c))}
          ${grants.slice(0, 500).flatMap((g) => g.capabilities.slice(0, 50).map((c) => this.right(c, g)))}
        </ul></section>`;
  }

  right(capability, grant) {
    const deny = parse(capability)?.deny;
    return html`<li class=${deny ? "denial" : ""}>
      <span class="meaning"><bdi>${visible(words(capability))}</bdi></span>
      <code><bdi>${visible(clip(text(capability), 2000))}</bdi></code>
      <span class="source small">${grant ? html`granted by ${person(grant.from)}, ${grant.expires ? html`ends ${clock(grant.expires)}, <strong>${ago(grant.expires, Date.now())}</strong>` : "until it is revoked"}` : html`<span class="quiet">${deny ? "denied, by the configuration or a revocation" : "by the configuration"}</span>`}</span>
      ${deny || !this.may["capability/revoke"] ? nothing : html`<button class="plain revoke" @click=${() => this.revoke(capability, grant)} aria-label="Revoke ${visible(clip(text(capability), 200))}">Revoke…</button>`}
    </li>`;
  }

  serves({ pinned }) {
    const tools = this.tools ?? [];
    if (!tools.length) return nothing;
    return html`
      <section aria-label="Tools"><h3>What they serve <span class="count">${counted(tools.length, "tool")}</span></h3>
        ${pinned ? html`<p class="quiet small">Pinned: a tool whose definition changed is called by nobody until somebody accepts it.</p>` : nothing}
        <ul class="tools">${tools.slice(0, mostTools).map((t) => this.tool(t))}</ul>
        ${tools.length > mostTools ? html`<p class="quiet small">The first ${mostTools} are listed.</p>` : nothing}</section>`;
  }

  tool(t) {
    const says = this.definition(t)?.definition?.description;
    return html`<li>
      <span class="tool-name"><code><bdi>${visible(clip(t.tool, 256))}</bdi></code> <span class="badge ${t.accepted ? "dim" : "warn"}">${t.accepted ? "accepted" : "changed"}</span></span>
      <bdi class="says">${typeof says === "string" ? oneLine(clip(says, 600)) : html`<span class="quiet">Without a description.</span>`}</bdi>
      ${t.accepted ? nothing : html`<span class="warning"><bdi>${visible(clip(String(t.changed ?? ""), 600))}</bdi>
        ${this.may["space/accept-tool"] ? html`<button class="accept" @click=${() => this.accept(t)}>Look and accept…</button>` : html`<span class="small">To accept it takes <code>space/accept-tool</code>.</span>`}</span>`}
    </li>`;
  }

  limits() {
    const { space } = this.app.store;
    const limits = space?.limits ?? {};
    const rows = [
      ["Enforcement", space?.enforcement === "lazy" ? "lazy: kinds alone are looked at" : "strict: kinds are held against what is in them"],
      ["Messages", limits.rate && `${limits.rate} a second each, ${limits.burst} at once, at most ${limits.envelope_bytes?.toLocaleString("en")} bytes`],
      ["Open proposals", limits.open_proposals && `${limits.open_proposals.toLocaleString("en")} each, for ${limits.proposal_ttl}`],
      ["Threads", limits.open_contexts && `${limits.open_contexts.toLocaleString("en")} open each, ${limits.context_depth} deep`],
      ["Room for", limits.participants && `${limits.participants.toLocaleString("en")} participants, ${limits.connections?.toLocaleString("en")} connections`],
    ];
    return html`<section aria-label="Limits"><h3>Limits that hold for everybody here</h3><dl class="facts">${rows.filter(([, value]) => value).map(([label, value]) => html`<dt>${label}</dt><dd>${visible(String(value))}</dd>`)}</dl></section>`;
  }
}
