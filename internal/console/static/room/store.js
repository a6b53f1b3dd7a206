// What is known of a room, made of the frames as they come. Pure: no document,
// no network, no clock.
//
//	const store = new Store();
//	store.watch = (e) => …   // is told of each envelope after it was handled
//	store.add(frame);        // the text of each frame, in order
//	store.rows               // what there is to show, oldest first
//
// One row is one thing that happens: a call and its answer are one, and so are a
// proposal, its decision, the call that it became and its result. A frame that was
// handled before (by its position) changes nothing. At most maxRows are kept, and
// of each only a short text: all of an envelope is at the gateway, by its id.
// What was before can be put in front, page by page: addOlder.
import { clip } from "../base/text.js";

const shortText = 600; // of each row, searched and shown
const mostContexts = 5000;
const mostPeople = 5000;
const mostIDs = 64; // of each row
const mostAltered = 2000; // rows that are looked at one by one

export class Store {
  constructor({ maxRows = 100_000 } = {}) {
    this.maxRows = maxRows;
    this.reset();
  }

  reset() {
    this.rows = [];
    this.first = 0; // number of the first row: rows[i].n === first + i
    this.altered = new Set(); // rows that changed since somebody looked: see takeAltered
    this.oldest = Infinity; // position of the oldest envelope that was handled
    this.begins = 1; // where the record begins, as far as is known
    this.trimmed = false; // whether there was no room for the oldest rows
    this.renumbered = true;
    this.people = new Map(); // id → {id, capabilities}
    this.peopleTotal = 0;
    this.contexts = new Map(); // id → {id, type, parent, count, last}
    this.kinds = new Set();
    this.senders = new Set();
    this.me = undefined;
    this.space = undefined;
    this.epoch = "";
    this.last = 0; // position of the newest frame that was handled
    this.decisions = 0; // counts what happens to proposals
    this.waiting = undefined; // ids of proposals that the queue holds, which may have no row
    this.changes = (this.changes ?? 0) + 1; // counts who comes and goes, and what becomes of rights and tools
    this.byID = new Map(); // envelope → its row
  }

  // add handles one frame. It reports whether there is anything new.
  add(text) {
    let e;
    try {
      e = JSON.parse(text);
    } catch {
      this.tell("unreadable", "The gateway sent a frame that is not JSON.");
      return true;
    }
    if (e.kind === "system/welcome") {
      this.welcome(e.payload ?? {});
      this.watch?.(e);
      return true;
    }
    if (e.seq !== undefined) {
      if (e.seq <= this.last) return false;
      this.last = e.seq;
      this.oldest = Math.min(this.oldest, e.seq);
    }
    this.envelope(e);
    this.watch?.(e);
    return true;
  }

  get hasOlder() {
    return this.oldest !== Infinity && this.oldest > this.begins;
  }

  // full reports whether there is no room for what was before. Once rows were
  // dropped, what became of those would be missing.
  get full() {
    return this.trimmed || this.rows.length >= this.maxRows * 0.9;
  }

  // addOlder puts what was before in front: envelopes, oldest first, the last of
  // them right before oldest. What is known already of calls and proposals that
  // began there goes to their rows.
  addOlder(envelopes) {
    const old = new Store({ maxRows: Infinity });
    for (const e of envelopes) old.envelope(e);
    if (!envelopes.length) {
      this.begins = this.oldest;
      return;
    }
    this.oldest = envelopes[0].seq;
    this.joinOlder(old);
    this.first -= old.rows.length;
    this.rows.unshift(...old.rows);
    for (const [i, row] of old.rows.entries()) row.n = this.first + i;
    for (const row of this.rows) if (row.answers && !row.into) this.joinRow(row, old);
    for (const [id, row] of old.byID) if (!this.byID.has(id)) this.byID.set(id, row);
    this.altered.clear();
    this.renumbered = true;
  }

  joinOlder({ contexts, senders, kinds }) {
    for (const one of senders) this.senders.add(one);
    for (const one of kinds) this.kinds.add(one);
    const earlier = [...contexts.values()].filter((c) => {
      const known = this.contexts.get(c.id);
      if (known) Object.assign(known, { type: c.type ?? known.type, parent: c.parent ?? known.parent, count: known.count + c.count });
      return !known;
    });
    this.contexts = new Map([...earlier.map((c) => [c.id, c]), ...this.contexts].slice(-mostContexts));
  }

  // joinRow makes what a row answers, which was not known when it came, and the row
  // one.
  joinRow(row, old) {
    const about = row.answers.map((id) => old.byID.get(id)).find((one) => answersTo(row, one));
    if (!about) return;
    if (row.type === "call") Object.assign(about, { state: row.state, by: row.from, closedBy: row.id, amended: row.amended, answer: row.answer, answerID: row.answerID });
    else if (row.type === "answer") Object.assign(about, { state: row.state, answer: row.text, answerID: row.id });
    else Object.assign(about, { state: row.ends, by: row.from, closedBy: row.id, answer: row.why });
    if (about.answerID) about.took = Date.parse(row.doneAt ?? row.ts) - Date.parse(about.ts);
    about.ids = [...about.ids, ...row.ids].slice(0, mostIDs);
    row.into = about;
    for (const id of row.ids) this.byID.set(id, about);
  }

  // takeAltered are the rows that changed since it was asked last; undefined where
  // these are too many to look at one by one, or where all got other numbers.
  takeAltered() {
    const { altered, renumbered } = this;
    this.altered = new Set();
    this.renumbered = false;
    return renumbered || altered.size > mostAltered ? undefined : altered;
  }

  alter(row, change) {
    Object.assign(row, change);
    if (this.altered.size <= mostAltered) this.altered.add(row);
  }

  welcome({ you, participants = [], participants_total, space, history = {} }) {
    this.me = you;
    this.space = space;
    const known = this.epoch;
    if (history.epoch && known && history.epoch !== known) {
      const { me, space } = this;
      this.reset();
      Object.assign(this, { me, space });
      this.tell("gap", "The record of this room began anew. What was here before is not part of it.");
    } else if (known && history.gap) {
      this.tell("gap", "Something between is no longer kept: the connection was away for too long.");
    }
    this.epoch = history.epoch ?? known;
    this.begins = history.first || this.begins;
    this.changes++;
    this.people.clear();
    for (const p of participants) this.arrive(p);
    this.peopleTotal = Math.max(participants_total ?? 0, this.people.size);
    return true;
  }

  arrive(p) {
    if (typeof p?.id === "string" && (this.people.has(p.id) || this.people.size < mostPeople)) this.people.set(p.id, p);
  }

  presence({ event, participant }) {
    this.changes++;
    const was = this.people.has(participant?.id);
    if (event === "leave") {
      if (this.people.delete(participant?.id)) this.peopleTotal--;
    } else {
      this.arrive(participant);
      if (!was) this.peopleTotal++;
    }
  }

  envelope(e) {
    const payload = e.payload;
    const type = e.kind.split(":", 1)[0];
    if (type === "system/presence") return this.presence(payload ?? {});
    if (type === "system/ack") return;
    this.senders.add(e.from);
    this.countContext(e);
    if (answered(e).some((id) => this.waiting?.has(id) && !this.byID.has(id))) this.decisions++;
    if (type.startsWith("capability/") || type === "space/accept-tool" || type === "system/notice") this.changes++;
    switch (type) {
      case "mcp/proposal":
        this.decisions++;
        return this.push(e, "proposal", "open", describeCall(payload?.method, payload?.params));
      case "mcp/request":
        return this.request(e);
      case "mcp/response":
        return this.response(e);
      case "mcp/reject":
        return this.close(e, "rejected", payload?.reason, payload?.message);
      case "mcp/withdraw":
        return this.close(e, "withdrawn", payload?.reason, payload?.message);
      case "system/notice":
        return this.notice(e);
      case "system/error":
        return this.push(e, "refusal", "refused", `${payload?.error ?? ""}: ${payload?.message ?? ""}`);
      case "chat":
        return this.push(e, "chat", "", typeof payload?.text === "string" ? payload.text : compact(payload));
      default:
        return this.push(e, "other", "", describe(payload));
    }
  }

  // about is the row of what the envelope answers: the first of one of these types.
  about(e, ...types) {
    return answered(e).map((id) => this.byID.get(id)).find((row) => types.includes(row?.type));
  }

  request(e) {
    const { method, params, id } = e.payload ?? {};
    const proposal = this.about(e, "proposal");
    if (proposal && proposal.from !== e.from && proposal.state === "open") {
      this.alter(proposal, { state: "running", by: e.from, closedBy: e.id, amended: e.amends === true });
      this.remember(e, proposal);
      this.decisions++;
      return;
    }
    if (method === "notifications/cancelled" && this.cancelled(e)) return;
    const notification = id === undefined && String(method).startsWith("notifications/");
    return this.push(e, "call", notification ? "" : "running", describeCall(method, params), { amended: e.amends === true, forUs: !notification && Array.isArray(e.to) && e.to.includes(this.me?.id) });
  }

  // cancelled ends a call that its own caller no longer waits for.
  cancelled(e) {
    const row = this.about(e, "call", "proposal") ?? this.byID.get(e.payload.params?.requestId);
    if (row?.state !== "running" || (row.by ?? row.from) !== e.from) return false;
    this.alter(row, { state: "cancelled" });
    this.remember(e, row);
    return true;
  }

  response(e) {
    const row = this.about(e, "call", "proposal");
    const answers = row?.state === "running" || row?.state === "cancelled";
    const { result, error } = e.payload ?? {};
    const failed = error !== undefined || result?.isError === true;
    const answer = short(error ? `${error.message ?? ""}` : describeResult(result));
    if (!answers) return this.push(e, "answer", failed ? "failed" : "done", answer);
    this.alter(row, { state: failed ? "failed" : "done", answer, answerID: e.id, doneAt: e.ts, took: Date.parse(e.ts) - Date.parse(row.ts) });
    this.remember(e, row);
  }

  close(e, state, reason, message) {
    const proposal = this.about(e, "proposal");
    const why = short([reason, message].filter((s) => typeof s === "string" && s !== "").join(": "));
    if (!proposal) return this.push(e, "other", state, why || describe(e.payload), { ends: state, why });
    if (proposal.state === "open") {
      this.alter(proposal, { state, by: e.from, closedBy: e.id, answer: why });
      this.decisions++;
    }
    this.remember(e, proposal);
  }

  notice(e) {
    const p = e.payload ?? {};
    if (p.event === "proposal_expired") return this.close(e, "expired");
    if (p.event === "result_collected") return;
    const tools = Array.isArray(p.tools) ? p.tools.map((t) => t?.name).join(", ") : "";
    const words = { tools_seen: `tools of ${p.participant}: ${tools}`, tools_changed: `tools of ${p.participant} changed: ${tools}` };
    return this.push(e, "notice", "", words[p.event] ?? describe(p));
  }

  countContext(e) {
    const c = typeof e.context === "string" ? { id: e.context } : e.context;
    if (typeof c?.id !== "string") return;
    let one = this.contexts.get(c.id);
    if (one) this.contexts.delete(c.id); // and to the end: the map is in the order of use
    else one = { id: c.id, type: c.type, parent: c.parent, count: 0 };
    one.count++;
    one.last = e.seq;
    this.contexts.set(c.id, one);
    if (this.contexts.size > mostContexts) this.contexts.delete(this.contexts.keys().next().value);
  }

  // tell puts a word of the console's own into the stream.
  tell(state, text) {
    return this.push({ kind: "console", from: "the console" }, "told", state, text); // which no participant can be called
  }

  push(e, type, state, text, more) {
    this.kinds.add(e.kind.split(":", 2).join(":"));
    const context = typeof e.context === "string" ? e.context : e.context?.id;
    const row = {
      n: this.first + this.rows.length, type, state, text: short(text), seq: e.seq, id: e.id, ids: [], ts: e.ts,
      from: e.from, to: Array.isArray(e.to) ? e.to.slice(0, 8) : [], kind: e.kind, context, ...more,
    };
    const answers = answered(e);
    if (answers.length && (type === "call" || type === "answer" || row.ends)) row.answers = answers; // it may come as older
    this.rows.push(row);
    this.remember(e, row);
    this.trim();
    return row;
  }

  remember(e, row) {
    if (!e.id || row.ids.length >= mostIDs) return;
    row.ids.push(e.id);
    this.byID.set(e.id, row);
  }

  // trim drops the oldest tenth, so that it is rarely done.
  trim() {
    if (this.rows.length <= this.maxRows) return;
    const gone = this.rows.splice(0, Math.ceil(this.maxRows / 10));
    this.first += gone.length;
    this.trimmed = true;
    for (const row of gone) this.altered.delete(row);
    for (const row of gone) for (const id of row.ids) if (this.byID.get(id) === row) this.byID.delete(id);
    if (this.senders.size > mostPeople) this.senders = new Set(this.rows.map((r) => r.from));
    if (this.kinds.size > 1000) this.kinds = new Set(this.rows.map((r) => r.kind.split(":", 2).join(":")));
  }
}

// oneRow is the row of one envelope alone: what became of it is told by others.
export function oneRow(e, n = 0) {
  const store = new Store();
  store.envelope(e);
  const row = store.rows[0] ?? store.push(e, "notice", "", present(e.payload));
  if (row.type === "proposal" || row.type === "call") row.state = "";
  return Object.assign(row, { n, answering: row.type === "call" && row.answers !== undefined, answers: undefined });
}

function present(payload) {
  const { event, participant } = payload ?? {};
  const did = { join: "joined", leave: "left" }[event];
  return did && typeof participant?.id === "string" ? `${participant.id} ${did}` : compact(payload);
}

// answersTo reports whether a row is what became of another.
function answersTo(row, about) {
  if (row.type === "call") return about?.type === "proposal" && about.state === "open" && about.from !== row.from;
  if (row.type === "answer") return (about?.type === "call" || about?.type === "proposal") && about.state === "running";
  return about?.type === "proposal" && about.state === "open";
}

const answered = (e) => [].concat(e.correlation_id ?? []).slice(0, mostIDs);

// matches reports whether a row passes a filter {from, kind, q, context, state};
// what is empty asks for nothing. A row that went into another passes none.
export function matches(row, { from, kind, q, context, state }) {
  if (row.into) return false;
  if (state && row.state !== state) return false;
  if (from && row.from !== from && row.by !== from && !row.to.includes(from)) return false;
  if (kind && row.kind !== kind && !row.kind.startsWith(kind + ":")) return false;
  if (context && row.context !== context) return false;
  if (!q) return true;
  const hay = `${row.text} ${row.answer ?? ""} ${row.from} ${row.kind}`.toLowerCase();
  // An id is found by a good part of it: one digit stands in every other id.
  return q.toLowerCase().split(/\s+/).every((word) => hay.includes(word) || (word.length >= 8 && row.ids.some((id) => id.toLowerCase().includes(word))));
}

const short = (text) => clip(String(text ?? ""), shortText);

function describeCall(method, params) {
  const name = params?.name ?? params?.uri ?? (method === "elicitation/create" ? params?.message : undefined);
  const given = params?.arguments;
  return [method, name, given === undefined ? "" : compact(given)].filter(Boolean).join(" ");
}

function describeResult(result) {
  if (Array.isArray(result?.content)) {
    const texts = result.content.slice(0, 16).map((c) => (typeof c?.text === "string" ? c.text : `[${c?.type ?? "?"}]`));
    if (texts.length) return texts.join(" ");
  }
  return compact(result);
}

function describe(payload) {
  for (const name of ["text", "thought", "decision", "message", "summary"]) {
    if (typeof payload?.[name] === "string") return payload[name];
  }
  if (payload?.redacted === true) return "(redacted)";
  return compact(payload);
}

// compact is the beginning of a value's JSON, at a cost that does not grow with
// what lies behind the beginning.
export function compact(value) {
  let left = 2 * shortText;
  let deep = 0;
  const write = (v) => {
    if (left <= 0) return "…";
    if (typeof v === "string") {
      const s = JSON.stringify(clip(v, shortText));
      left -= s.length;
      return s;
    }
    if (typeof v !== "object" || v === null) {
      left -= 4;
      return (Math.abs(v) > Number.MAX_SAFE_INTEGER ? "≈" : "") + String(v); // JSON.parse may have rounded it
    }
    if (++deep > 8) {
      deep--;
      return "…";
    }
    const parts = [];
    for (const key in v) {
      if (left <= 0) break;
      left -= 2;
      parts.push(Array.isArray(v) ? write(v[key]) : `${JSON.stringify(clip(key, 100))}:${write(v[key])}`);
    }
    deep--;
    return Array.isArray(v) ? `[${parts.join(",")}]` : `{${parts.join(",")}}`;
  };
  return value === undefined ? "" : write(value);
}
