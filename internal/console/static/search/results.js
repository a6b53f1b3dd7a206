// What a search finds, newest first, page by page as one scrolls. It can stand where
// a list wants a store.
import * as api from "../base/api.js";
import { oneRow } from "../room/store.js";

const page = 100;
const mostRows = 20_000;
const mostInVain = 20; // pages in a row of nothing but comings and goings

export class Results {
  // given are the names and values to ask with; around is a position in whose
  // neighbourhood to begin, 0 for the newest. Who comes and goes is left out unless a
  // kind is asked for.
  constructor(space, given, { around = 0, changed }) {
    Object.assign(this, { space, given, around, changed });
    this.presence = given.some(([name]) => name === "kind");
    this.rows = [];
    this.leftOut = 0;
    this.first = 0; // number of the first row, as in a store
    this.renumbered = true;
    this.ended = { older: false, newer: !around };
    this.stopper = new AbortController();
    this.state = "searching"; // or ready, more, failed, stopped
  }

  get full() {
    return this.rows.length >= mostRows;
  }

  takeAltered() {
    const { renumbered } = this;
    this.renumbered = false;
    return renumbered ? undefined : new Set();
  }

  stop() {
    this.stopper.abort();
    if (this.state === "searching" || this.state === "more") this.state = "stopped";
  }

  // begin asks for the first page.
  begin() {
    return this.run("searching", async () => {
      if (!this.around) return this.older();
      await this.older(this.around + 1);
      await this.newer(this.around);
    });
  }

  // more goes on at an end: older or newer.
  more(end) {
    if (this.state !== "ready" || this.ended[end] || this.full) return undefined;
    return this.run("more", () => this[end]());
  }

  async run(state, ask) {
    this.state = state;
    this.begun = performance.now();
    this.changed();
    try {
      await ask();
      this.state = "ready";
    } catch (problem) {
      this.state = this.stopper.signal.aborted ? "stopped" : "failed";
      this.problem = problem;
    }
    this.changed();
  }

  // again tries what failed or was stopped.
  again() {
    this.stopper = new AbortController();
    if (!this.rows.length) return this.begin();
    return this.run("more", () => this.older());
  }

  async older(before = this.oldest) {
    const { length } = this.rows;
    for (let left = mostInVain; left && !this.ended.older && this.rows.length === length; left--) {
      const { items, next } = await this.ask({ order: "desc", ...(before ? { before } : {}) });
      before = this.oldest = next ?? items.at(-1)?.seq ?? before;
      this.newest ??= items[0]?.seq;
      for (const e of this.listed(items)) this.rows.push(oneRow(e, this.first + this.rows.length));
      this.ended.older = !next;
    }
  }

  async newer(after = this.newest ?? 0) {
    const { length } = this.rows;
    for (let left = mostInVain; left && !this.ended.newer && this.rows.length === length; left--) {
      const { items, next } = await this.ask({ order: "asc", after });
      after = this.newest = next ?? items.at(-1)?.seq ?? after;
      const came = this.listed(items).reverse();
      this.first -= came.length;
      this.rows.unshift(...came.map((e, i) => oneRow(e, this.first + i)));
      this.renumbered = true;
      this.ended.newer = !next;
    }
  }

  listed(items) {
    const list = items.filter((e) => this.presence || !/^system\/presence(:|$)/.test(e.kind));
    this.leftOut += items.length - list.length;
    return list;
  }

  async ask(place) {
    const text = await api.search(this.space, [...this.given, ...Object.entries({ limit: page, ...place })], this.stopper.signal);
    return JSON.parse(text);
  }
}
