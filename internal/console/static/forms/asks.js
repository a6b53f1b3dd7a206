// The forms that somebody waits for an answer to from us: requests of the method
// elicitation/create that are addressed to us and have no answer yet. The stream tells
// of new ones and of how they end; those that are older than what it holds are looked
// for on record, as "parley chat" does.
import * as api from "../base/api.js";
import { clip } from "../base/text.js";

const method = "elicitation/create";
const cancelled = "mcp/request:notifications/cancelled";

// What waits is bounded, since anybody may ask.
const most = 64;
const mostEach = 16; // of one asker
const mostEnded = 1000;

// Whoever asked earlier has given up by now, or was killed before saying so.
const askedWithin = 24 * 3600 * 1000; // milliseconds
const again = 5000; // milliseconds after a list could not be had

// An ask is {id, from, to, seq, ts, message}; ended says why nobody waits any more,
// and sending is set while our own answer is on its way.
export class Asks {
  // me is who we are; changed is called when items are new; failed with a problem.
  constructor(space, { me, changed, failed }) {
    Object.assign(this, { space, me, changed, failed });
    this.items = []; // the oldest first
    this.ended = new Set(); // ids
    this.more = false; // there are some that had no room
  }

  stop() {
    clearTimeout(this.timer);
    this.stopped = true;
  }

  find(id) {
    return this.items.find((a) => a.id === id);
  }

  // hear is told of each frame.
  hear(e) {
    if (e.kind === "system/welcome") this.list();
    else if (e.kind?.startsWith("mcp/re")) this.consider(e);
  }

  consider(e) {
    if (isAsk(e, this.me())) return this.add(e);
    const answered = [].concat(e.correlation_id ?? []);
    if (e.kind === cancelled) answered.push(e.payload?.params?.requestId);
    else if (!isAnswer(e)) return;
    for (const id of answered) {
      const ask = this.find(id);
      const why = ask && endOf(ask, e, this.me());
      if (why && !(ask.sending && e.from === this.me())) this.end(ask, why);
      else if (!ask && typeof id === "string") this.remember(id);
    }
  }

  add(e) {
    if (this.find(e.id) || this.ended.has(e.id) || Date.parse(e.ts) < Date.now() - askedWithin) return;
    if (this.items.length >= most || this.items.filter((a) => a.from === e.from).length >= mostEach) {
      this.more = true;
      return;
    }
    const { message } = e.payload.params ?? {};
    this.items.push({ id: e.id, from: e.from, to: e.to, seq: e.seq, ts: e.ts, message: typeof message === "string" ? clip(message, 200) : "" });
    this.items.sort((a, b) => a.seq - b.seq);
    this.changed();
  }

  // end takes a form away, with the reason.
  end(ask, why) {
    ask.ended = why;
    this.items = this.items.filter((a) => a !== ask);
    this.remember(ask.id);
    ask.changed?.();
    this.changed();
    if (this.more) this.list();
  }

  remember(id) {
    this.ended.add(id);
    if (this.ended.size > mostEnded) this.ended.delete(this.ended.values().next().value);
  }

  // list looks for those on record, and for the end of those that we missed the end of.
  async list() {
    if (this.listing) return (this.anew = true);
    this.listing = true;
    const known = [...this.items];
    try {
      const open = await this.unanswered();
      if (this.stopped) return;
      this.more = false;
      for (const e of open) this.add(e);
      for (const ask of known) {
        const missed = !ask.ended && !ask.sending && ask.seq >= open.since && !open.some((e) => e.id === ask.id);
        if (missed) this.end(ask, "It was answered, or is no longer asked.");
      }
    } catch (problem) {
      if (this.stopped) return;
      this.failed(problem);
      if (problem.status !== 401) this.timer = setTimeout(() => this.list(), again);
    } finally {
      this.listing = false;
      if (this.anew && !this.stopped) {
        this.anew = false;
        this.list();
      }
    }
  }

  // unanswered are the newest requests that wait, and since which position.
  async unanswered() {
    const me = this.me();
    const found = await this.newest({ to: me, kind: "mcp/request:" + method, since: new Date(Date.now() - askedWithin).toISOString() }, most);
    const since = found.length < most ? 0 : found.at(-1).seq;
    const open = [];
    if (found.length) {
      const ours = await this.newest({ from: me, kind: "mcp/response:" + method, after: found.at(-1).seq }, 4 * most);
      for (const e of found) {
        if (!isAsk(e, me) || ours.some((answer) => ends(e, answer, me))) continue;
        const others = await this.newest({ correlation: e.id }, 1000);
        if (!others.some((answer) => ends(e, answer, me))) open.push(e);
      }
    }
    return Object.assign(open, { since });
  }

  // newest goes on over pages, which end early where envelopes are large.
  async newest(filter, count) {
    const all = [];
    let before;
    do {
      const page = JSON.parse(await api.listed(this.space, { ...filter, order: "desc", limit: count - all.length, ...(before ? { before } : {}) }));
      all.push(...page.items);
      before = page.next;
    } while (before && all.length < count && !this.stopped);
    return all;
  }
}

function isAsk(e, me) {
  const kind = "mcp/request:" + method;
  return (e.kind === kind || e.kind?.startsWith(kind + ":")) && e.payload?.method === method && Array.isArray(e.to) && e.to.includes(me);
}

const isAnswer = (e) => e.kind === "mcp/response:" + method || e.kind.startsWith(`mcp/response:${method}:`);

const ends = (ask, e, me) => endOf(ask, e, me) !== "";

// endOf says how an envelope ends an ask: "" where it does not.
function endOf(ask, e, me) {
  const answers = [].concat(e.correlation_id ?? []).includes(ask.id);
  if (isAnswer(e) && answers && ask.to.includes(e.from)) {
    return e.from === me ? "You answered it elsewhere." : `It was answered by ${e.from}.`;
  }
  if (e.kind !== cancelled || e.from !== ask.from) return "";
  const { requestId, reason } = e.payload?.params ?? {};
  if (requestId !== ask.id && !answers) return "";
  return typeof reason === "string" && reason ? `It is no longer asked: ${clip(reason, 300)}` : "It is no longer asked.";
}
