// The room: the live stream, who is here, and the threads.
import { html, live, nothing, ref } from "../vendor/lit-3.3.3.js";
import { SideDialog } from "./dialog_side.js";
import { List } from "./list.js";
import { person, roomRow } from "../base/row.js";
import { about, ofThread } from "./thread_types.js";
import { visible } from "../base/text.js";
import { everything } from "../base/address.js";
import * as api from "../base/api.js";

const mostListed = 200; // people and threads beside the stream
const olderPage = 500; // envelopes that are asked for at once
const mostInVain = 4; // pages in which nothing matches the filter, before one is asked
const states = { open: "waiting", running: "running", done: "done", failed: "failed", rejected: "rejected", withdrawn: "withdrawn", expired: "expired", refused: "refused" };
const filterNames = ["from", "kind", "context", "state", "q"];

export class RoomPage {
  static name = "room";
  static label = "Room";

  // app has store, address, go(change), open(row), changed() and fail(problem).
  constructor(app) {
    this.app = app;
    this.mount = (element) => this.mounted(element);
    this.shown = "";
    this.inVain = 0; // pages in a row that added nothing to what is shown
  }

  commands() {
    return [
      { label: "Next message", keys: ["j"], repeat: true, act: () => this.move(1) },
      { label: "Previous message", keys: ["k"], repeat: true, act: () => this.move(-1) },
      { label: "Newest message", keys: ["n"], act: () => this.newest() },
      { label: "Fold or unfold the thread of the chosen message", keys: ["c"], act: () => this.foldCurrent() },
      { label: "People and threads", act: () => this.app.show(new SideDialog(this)) },
      { label: "Filter by words", keys: ["/"], act: () => document.querySelector("input[name=q]")?.focus() },
    ];
  }

  // drawn brings the list up to date, and has the page drawn again where that changes
  // what it says.
  drawn() {
    const told = () => `${this.list?.fresh} ${!this.list?.view.length}`;
    const before = told();
    this.refresh();
    if (told() !== before) this.app.changed();
  }

  mounted(element) {
    this.list?.stop();
    this.list = undefined;
    if (!element) return;
    const { app } = this;
    this.list = new List(element, app.store, {
      row: (row, place) => {
        const folded = place.head && this.list.collapsed.has(row.context) ? app.store.contexts.get(row.context)?.count ?? 0 : 0;
        return roomRow(row, { ...place, folded, thread: row.context && ofThread(app.store, row) });
      },
      picked: (row) => app.open(row),
      moved: () => app.changed(),
      edge: (end) => end === "top" && this.older(),
    });
    this.shown = "";
    this.refresh();
  }

  filter() {
    return Object.fromEntries(filterNames.map((name) => [name, this.app.address[name]]));
  }

  // older gets what was said before what the page holds. With a filter it goes on
  // until something matches, for a while.
  async older() {
    const { app } = this;
    const { store } = app;
    if (this.loading || !store.hasOlder || store.full || this.failed) return;
    this.loading = true;
    app.changed();
    const { oldest, epoch } = store;
    try {
      const { items } = JSON.parse(await api.search(app.address.space, { before: oldest, order: "desc", limit: olderPage }));
      if (store === app.store && store.oldest === oldest && store.epoch === epoch) this.take(items.reverse());
    } catch (problem) {
      this.failed = problem;
    }
    this.loading = false;
    app.changed();
  }

  take(envelopes) {
    const { list } = this;
    const before = list?.view.length;
    this.app.store.addOlder(envelopes);
    list?.update();
    this.inVain = list?.view.length > before ? 0 : this.inVain + 1;
    const more = list && this.inVain > 0 && this.inVain < mostInVain && list.scroller.scrollTop < list.height;
    if (more) queueMicrotask(() => this.older());
  }

  again() {
    this.failed = undefined;
    this.inVain = 0;
    this.older();
  }

  refresh() {
    if (!this.list) return;
    const filter = this.filter();
    const shown = JSON.stringify(filter);
    if (shown === this.shown) return this.list.update();
    this.shown = shown;
    this.inVain = 0;
    this.list.show(filter);
  }

  newest() {
    this.list?.toEnd();
    this.list?.draw();
    this.app.changed();
  }

  fold(context) {
    this.list?.fold(context);
    this.app.changed();
  }

  focus() {
    this.list?.scroller.focus();
  }

  move(by) {
    this.focus();
    this.list?.move(by);
  }

  foldCurrent() {
    if (this.list?.current?.context) this.fold(this.list.current.context);
  }

  view() {
    const { store } = this.app;
    const shown = this.list?.view.length ?? 0;
    return html`
      <main class="room" id="main">
        <h1 class="sr">Room ${visible(this.app.address.space)}</h1>
        <section class="stream" aria-label="Stream">
          ${this.filters()}
          ${this.before()}
          <div class="rows" role="listbox" tabindex="0" aria-label="Messages, oldest first" ${ref(this.mount)}></div>
          ${store.rows.length && !shown && this.list && !this.loading ? html`<p class="empty">Nothing here matches the filter.</p>` : nothing}
          ${!store.rows.length ? html`<p class="empty">Nothing has been said here yet.</p>` : nothing}
          ${this.list?.fresh ? html`<button class="fresh" @click=${() => this.newest()}>${this.list.fresh.toLocaleString("en")} new ↓</button>` : nothing}
          ${this.composer()}
        </section>
        ${this.aside()}
      </main>`;
  }

  // before says what there is above the first row: only where that is in sight.
  before() {
    const { store, address } = this.app;
    const { list } = this;
    if (!list || !store.rows.length || list.scroller.scrollTop > list.height) return nothing;
    const search = html`<button class="plain" @click=${() => this.app.go({ ...everything, page: "search", from: address.from, kind: address.kind, context: address.context, q: address.q })}>Search the whole record</button>`;
    if (this.failed) return html`<p class="older bad" role="alert">${visible(this.failed.message)} <button @click=${() => this.again()}>Try again</button></p>`;
    if (this.loading) return html`<p class="older" role="status">Looking further back…</p>`;
    if (!store.hasOlder) return nothing;
    if (store.full) return html`<p class="older">This page holds no more. ${search}</p>`;
    return html`<p class="older"><button class="plain" @click=${() => this.again()}>Older messages</button> ${filterNames.some((name) => address[name]) ? search : nothing}</p>`;
  }

  filters() {
    const { store, address } = this.app;
    const go = (change) => this.app.go(change);
    const pick = (name) => (e) => go({ [name]: e.target.value });
    const choice = (name, label, all, values) => html`
      <label class="choice"><span class="sr">${label}</span>
        <select name=${name} @change=${pick(name)} .value=${live(address[name])}>
          <option value="">${all}</option>
          ${withChosen(values, address[name]).map((v) => html`<option value=${v} ?selected=${v === address[name]}>${visible(states[v] ?? v)}</option>`)}
        </select></label>`;
    const any = filterNames.some((name) => address[name]);
    return html`
      <form class="filters" role="search" @submit=${(e) => e.preventDefault()}>
        <label class="choice grow"><span class="sr">Filter by words</span>
          <input name="q" type="search" placeholder="Filter by words  /" .value=${live(address.q)} @input=${pick("q")}></label>
        ${choice("from", "Participant", "Everybody", [...store.senders].sort().slice(0, 500))}
        ${choice("kind", "Kind", "All kinds", [...store.kinds].sort().slice(0, 500))}
        ${choice("state", "State", "All states", Object.keys(states))}
        <button type="button" class="aside" @click=${() => this.app.show(new SideDialog(this))} title="People and threads">☰ <span class="sr">People and threads</span> <span class="count">${store.peopleTotal.toLocaleString("en")}</span></button>
        ${address.context ? html`<button type="button" class="chip" @click=${() => go({ context: "" })} aria-label="Stop showing one thread alone"><bdi>${visible(address.context)}</bdi> ✕</button>` : nothing}
        ${any ? html`<button type="button" class="plain" @click=${() => go(Object.fromEntries(filterNames.map((name) => [name, ""])))}>Clear</button>` : nothing}
      </form>`;
  }

  composer() {
    if (!maySay(this.app.store.me)) return nothing;
    const submit = async (e) => {
      e.preventDefault();
      const field = e.target.elements.text;
      const text = field.value.trim();
      if (!text || field.disabled) return;
      field.disabled = true;
      try {
        await api.send(this.app.address.space, { kind: "chat", id: api.newID(), payload: { text } });
        field.value = "";
      } catch (problem) {
        this.app.fail(problem);
      }
      field.disabled = false;
      field.focus();
    };
    return html`
      <form class="composer" @submit=${submit}>
        <label class="sr" for="say">Say something to the room</label>
        <input id="say" name="text" autocomplete="off" placeholder="Say something to the room">
        <button>Send</button>
      </form>`;
  }

  aside() {
    return html`<aside class="side" aria-label="People and threads">${this.side()}</aside>`;
  }

  // side is who is here, and the threads; picked is called when one of them is chosen.
  side(picked = () => {}) {
    const { store } = this.app;
    const only = (change) => (picked(), this.app.go(change));
    const people = [...store.people.values()].slice(0, mostListed).sort((a, b) => (a.id < b.id ? -1 : 1));
    const threads = [...store.contexts.values()].slice(-mostListed).reverse();
    return html`
        <h2>Here now <span class="count">${store.peopleTotal.toLocaleString("en")}</span></h2>
        <ul class="people">${people.map((p) => html`<li><button class="plain" @click=${() => only({ from: p.id })} title="Show what concerns ${visible(p.id)}"><span class="dot"></span>${person(p.id)}${p.id === store.me?.id && p.id !== "you" ? html` <span class="quiet">you</span>` : nothing}</button></li>`)}</ul>
        <h2>Record</h2>
        <p>${this.app.verification.badge()}</p>
        <h2>Threads <span class="count">${store.contexts.size.toLocaleString("en")}</span></h2>
        ${threads.length ? nothing : html`<p class="quiet small">None yet.</p>`}
        <ul class="threads">${threads.map((c) => this.thread(c, only))}</ul>`;
  }

  thread(c, only) {
    const id = visible(c.id);
    const says = about(this.app.store.space, c.type);
    const folded = this.list?.collapsed.has(c.id);
    return html`
      <li><button class="plain fold" aria-expanded=${!folded} aria-label="Fold ${id}" @click=${() => this.fold(c.id)}>${folded ? "▸" : "▾"}</button>
      <button class="plain name" @click=${() => only({ context: c.id })} title=${says ? `${id}\n${says}` : id} aria-description=${says || nothing}><bdi>${id}</bdi></button><span class="count">${c.count.toLocaleString("en")}</span></li>`;
  }
}

// maySay is a guess for the sake of the page; the gateway decides.
const maySay = (me) => (me?.capabilities ?? []).some((c) => c === "chat" || c === "*" || c?.kind === "chat" || c?.kind === "*");

const withChosen = (values, chosen) => (chosen && !values.includes(chosen) ? [chosen, ...values] : values);
