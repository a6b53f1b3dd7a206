// Search: what is on record, by time, words, participant, kind and thread; the chain of
// one envelope; a thread played again. The address says which of these is shown.
import { html, live, nothing, ref } from "../vendor/lit-3.3.3.js";
import { everything } from "../base/address.js";
import { RowDialog } from "../room/dialog_row.js";
import { collect, mostLines, save } from "./export.js";
import { List } from "../room/list.js";
import { asked, fromLocal, local, parts, spans } from "./question.js";
import { Results } from "./results.js";
import { roomRow } from "../base/row.js";
import { stamp, visible } from "../base/text.js";
import { ChainView } from "./view_chain.js";
import { ReplayView } from "./view_replay.js";

const settle = 300; // milliseconds after the last key, before the gateway is asked

export class SearchPage {
  static name = "search";
  static label = "Search";

  constructor(app) {
    this.app = app;
    this.mount = (element) => this.mounted(element);
    this.last = {}; // what was searched for when a chain or a replay was opened
  }

  // update finds out what is to be shown, and begins it where that is new.
  update() {
    const { address } = this.app;
    const shown = JSON.stringify([address.id, address.view, ...(address.view === "replay" ? [address.context, address.subtree] : [])]);
    if (shown !== this.shown) {
      this.shown = shown;
      this.past?.stop();
      this.past = address.id ? new ChainView(this, address.id) : address.view === "replay" && address.context ? new ReplayView(this, address.context, address.subtree === "true") : undefined;
    }
    this.past?.update?.();
    if (!this.past) this.ask();
  }

  hidden() {
    this.past?.pause?.();
  }

  stop() {
    clearTimeout(this.timer);
    this.results?.stop();
    this.exporting?.abort();
    this.past?.stop();
    this.list?.stop();
  }

  // back leads from a chain or a replay to what was searched for.
  back() {
    this.app.go({ ...everything, ...this.last });
  }

  // ask begins a search where the question is another one than before, a moment after
  // the last key.
  ask() {
    const { address } = this.app;
    const question = Object.fromEntries([...parts, "at"].map((name) => [name, address[name]]));
    const key = JSON.stringify(question);
    if (key === this.key) return;
    const typed = this.key !== undefined;
    this.key = key;
    this.cancelled = false;
    this.last = question;
    this.results?.stop();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.search(question), typed ? settle : 0);
  }

  search(question) {
    this.problem = "";
    const { app } = this;
    try {
      const around = Number(question.at) || 0;
      this.given = asked(question, Date.now());
      this.results = new Results(app.address.space, around ? [] : this.given, { around, changed: () => this.came() });
      this.results.begin();
    } catch (error) {
      this.results = undefined;
      this.problem = error.message;
      app.changed();
    }
  }

  cancel() {
    clearTimeout(this.timer);
    this.results?.stop();
    this.cancelled = true;
    this.app.changed();
  }

  searchAgain() {
    this.key = undefined;
    this.app.changed();
  }

  // came takes over what was found, once it is there: until then one sees what was
  // found before.
  came() {
    const { results, list } = this;
    if (results.state !== "searching" && this.found !== results) {
      this.found = results;
      if (list) this.fill(list);
    }
    this.app.changed();
  }

  fill(list) {
    list.store = this.found;
    list.show({});
    const row = this.found.around && this.found.rows.find((r) => r.seq <= this.found.around);
    if (row) list.reveal(row);
  }

  mounted(element) {
    if (this.list && this.found) this.found.top = this.list.scroller.scrollTop;
    this.list?.stop();
    this.list = undefined;
    if (!element) return;
    this.list = new List(element, this.found ?? new Results("", [], {}), {
      row: (row, place) => roomRow(row, { ...place, head: false, when: stamp }),
      picked: (row) => this.app.show(new RowDialog(this.app, row)),
      moved: () => this.app.changed(),
      edge: (end) => this.found?.more(end === "top" ? "newer" : "older"),
      follows: false,
    });
    if (!this.found) return;
    const { top } = this.found;
    this.fill(this.list);
    if (top) this.list.scroller.scrollTop = top;
  }

  drawn() {
    this.past?.drawn?.();
    if (!this.list || !this.found) return;
    this.list.update();
    const { scroller, view, height } = this.list;
    if (view.length * height < scroller.clientHeight) this.found.more("older"); // there is room
  }

  commands() {
    if (this.past) return this.past.commands?.() ?? [];
    const move = (by) => (this.list?.scroller.focus(), this.list?.move(by));
    return [
      { label: "Next message", keys: ["j"], repeat: true, act: () => move(1) },
      { label: "Previous message", keys: ["k"], repeat: true, act: () => move(-1) },
      { label: "Search for words", keys: ["/"], act: () => document.querySelector("input[name=q]")?.focus() },
      { label: "Export what was found", act: () => this.save() },
    ];
  }

  view() {
    return html`
      <main class="search" id="main">
        <h1 class="sr">Search ${visible(this.app.address.space)}</h1>
        ${this.past ? this.past.view() : this.searching()}
      </main>`;
  }

  searching() {
    const { found } = this;
    const bare = found && !found.rows.length && found.state === "ready" && found.ended.older;
    return html`
      <section class="stream ${bare ? "bare" : ""}" aria-label="What was found">
        ${this.form()} ${this.told()}
        <div class="rows" role="listbox" tabindex="0" aria-label="Messages, newest first" ${ref(this.mount)}></div>
        ${bare ? this.nothing() : nothing}
      </section>`;
  }

  form() {
    const { store, address } = this.app;
    const go = (change) => this.app.go({ at: "", ...change });
    const set = (name) => (e) => go({ [name]: e.target.value });
    const field = (name, label, values) => html`
      <label class="choice"><span class="sr">${label}</span>
        <input name=${name} list="known-${name}" autocomplete="off" spellcheck="false" placeholder=${label} .value=${live(address[name])} @input=${set(name)}>
        <datalist id="known-${name}">${values.map((v) => html`<option value=${v}></option>`)}</datalist></label>`;
    const people = [...new Set([...store.senders, ...store.people.keys()])].sort().slice(0, 500);
    const narrowed = parts.filter((name) => name !== "q" && address[name]).length;
    const any = narrowed || address.q || address.at;
    return html`
      <form class="filters ${this.unfolded ? "unfolded" : ""}" role="search" @submit=${(e) => (e.preventDefault(), this.searchAgain())}>
        <label class="choice grow words"><span class="sr">Words</span>
          <input name="q" type="search" placeholder="Words in the whole record  /" .value=${live(address.q)} @input=${set("q")}></label>
        <button type="button" class="unfold" aria-expanded=${!!this.unfolded} @click=${() => ((this.unfolded = !this.unfolded), this.app.changed())}>Filters${narrowed ? html` <span class="count">${narrowed}</span>` : nothing}</button>
        ${this.times(go)}
        ${field("from", "From", people)} ${field("to", "To", people)}
        ${field("kind", "Kind", [...store.kinds].sort().slice(0, 500))}
        ${field("context", "Thread", [...store.contexts.keys()].slice(-500).reverse())}
        ${address.context ? html`<label class="check"><input type="checkbox" name="subtree" .checked=${live(address.subtree === "true")} @change=${(e) => go({ subtree: e.target.checked ? "true" : "" })}> nested</label>
          <button type="button" @click=${() => this.app.go({ ...everything, view: "replay", context: address.context, subtree: address.subtree })}>Replay</button>` : nothing}
        ${any ? html`<button type="button" class="plain" @click=${() => ((this.custom = false), this.app.go(everything))}>Clear</button>` : nothing}
      </form>`;
  }

  // times are a span that ends now, or two times: local here, UTC in the address.
  times(go) {
    const { address } = this.app;
    const custom = this.custom || address.until || (address.since && !spans[address.since]);
    const pick = (e) => {
      this.custom = e.target.value === "custom";
      go({ since: this.custom ? "" : e.target.value, until: "" });
    };
    const time = (name, label) => html`<label class="time">${label} <input type="datetime-local" step="1" name=${name} .value=${live(local(spans[address[name]] ? "" : address[name]))} @change=${(e) => go({ [name]: fromLocal(e.target.value) })}></label>`;
    return html`
      <label class="choice"><span class="sr">Time</span>
        <select name="span" .value=${live(custom ? "custom" : address.since)} @change=${pick}>
          <option value="">Any time</option>
          ${Object.entries(spans).map(([value, [label]]) => html`<option value=${value} ?selected=${address.since === value}>${label}</option>`)}
          <option value="custom" ?selected=${!!custom}>From … to …</option>
        </select></label>
      ${custom ? html`${time("since", "from")} ${time("until", "to")}` : nothing}`;
  }

  // told says how the search stands, and what can be done about it.
  told() {
    const { results, found } = this;
    const n = found?.rows.length ?? 0;
    const left = found?.leftOut ? html`<span class="left">· ${found.leftOut.toLocaleString("en")} comings and goings left out <button id="presence" class="plain" @click=${() => this.app.go({ kind: "*", at: "" })}>List them</button></span>` : nothing;
    const again = html`<button class="plain" @click=${() => this.searchAgain()}>Search again</button>`;
    const status = () => {
      if (this.problem) return html`<span class="bad" role="alert">${visible(this.problem)}</span>`;
      if (this.cancelled) return html`Stopped. <button class="plain" @click=${() => this.searchAgain()}>Go on</button>`;
      if (!results || results.state === "searching") return html`Searching… <button class="plain" @click=${() => this.cancel()}>Cancel</button>`;
      if (results.state === "failed") return html`<span class="bad" role="alert">${visible(results.problem.message)} ${visible(results.problem.hint ?? "")}</span> <button class="plain" @click=${() => results.again()}>Try again</button>`;
      if (results.around) return html`Around ${results.around.toLocaleString("en")}${results.state === "more" ? ", loading more…" : ""}`;
      if (results.full) return html`The newest ${n.toLocaleString("en")} are listed: ask for less, or export them.`;
      if (results.state === "more") return html`${n.toLocaleString("en")} and more…`;
      return html`${n.toLocaleString("en")}${results.ended.older ? (n === 1 ? " message" : " messages") : " and more: scroll down"} ${again} ${left}`;
    };
    return html`
      <div class="told">
        <span role="status" id="told">${status()}</span>
        <span class="grow"></span>
        ${this.app.verification.badge()}
        ${this.exporting
          ? html`<span role="status">${(this.exported ?? 0).toLocaleString("en")} so far…</span> <button @click=${() => this.exporting.abort()}>Cancel the export</button>`
          : html`<button id="export" @click=${() => this.save()} ?disabled=${!n}>Export</button>`}
      </div>`;
  }

  nothing() {
    const { address } = this.app;
    return html`<div class="empty"><p>Nothing on record matches.</p>
      ${address.since || address.until ? html`<button @click=${() => this.app.go({ since: "", until: "" })}>Look at any time</button>` : nothing}</div>`;
  }

  // save exports all that the question finds, not only what was loaded to be looked at.
  async save() {
    const { app, found } = this;
    if (this.exporting || !found?.rows.length) return;
    const { space } = app.address;
    const stopper = (this.exporting = new AbortController());
    this.exported = 0;
    app.changed();
    try {
      const [given, below] = found.around ? [[["after", found.oldest - 1]], found.newest + 1] : [found.given, 0]; // around a place, what one has seen
      const { lines, cut } = await collect(space, given, { below, presence: found.presence, signal: stopper.signal, told: (n) => ((this.exported = n), app.changed()) });
      save(space, "search", lines);
      if (cut) app.fail({ message: `The file holds the newest ${lines.length.toLocaleString("en")} envelopes: a file has at most ${mostLines.toLocaleString("en")}, and 64 MB.`, hint: "Ask for less with a time, and export in parts." });
    } catch (problem) {
      if (!stopper.signal.aborted) app.fail(problem);
    }
    this.exporting = undefined;
    app.changed();
  }
}
