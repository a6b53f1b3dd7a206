// The record of a space as GET …/journal writes it: what a line says, and the two
// hashes that the gateway made of it. The hashes cover bytes, so that nothing
// here may be written in another way than the gateway does.
import { items, members } from "../base/raw.js";

const types = { envelope: 1, refused: 2, flood: 3, marker: 4, checkpoint: 5 };
const protocols = ['"mcpx/v0.1"', '"mcpp/v0.1"'];
const written = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const noTime = -62135596800000; // what the gateway calls the time that is none

// readLine is the record of one line; {type: "head", head} at the end, and
// {type: "overtaken"}. It throws an Error where the line is none of a record's.
export function readLine(line) {
  let whole;
  try {
    whole = JSON.parse(line);
  } catch {
    throw new Error("it is no JSON object");
  }
  if (typeof whole !== "object" || whole === null || Array.isArray(whole) || halfPair(line)) throw new Error("it is no JSON object");
  if (whole.type === "head") {
    nothingBut(whole, ["type", "head"]);
    return { type: "head", head: parseHead(whole.head) };
  }
  if (whole.type === "overtaken") return { type: "overtaken" };
  if (!Object.hasOwn(types, whole.type)) throw new Error(`there is no type ${JSON.stringify(String(whole.type)).slice(0, 42)}`);
  const r = readRecord(whole, line);
  if (exported(r) !== line.replace(/\r$/, "")) throw new Error("it holds more than the record, or is written in another way than an export is"); // no hash covers what was not read
  return r;
}

// exported is the line of a record, as the gateway writes it.
function exported(r) {
  const parts = [];
  const put = (name, value) => parts.push(`"${name}":${value}`);
  const say = (name, value) => value && put(name, JSON.stringify(value));
  const envelope = r.type === "envelope";
  say("type", r.type);
  put("index", r.index);
  if (r.seq) put("seq", r.seq);
  say("epoch", r.epoch);
  if (!envelope) {
    say("ts", new Date(r.ts).toISOString());
    say("id", r.id);
    say("from", r.from);
    say("kind", r.kind);
  }
  if (r.effective !== r.kind) say("effective", r.effective);
  if (r.to.length) put("to", JSON.stringify(r.to));
  if (r.redacted) put("redacted", true);
  else if (r.superseded) put("superseded", true);
  else say("salt", r.salt);
  say("rest", r.rest);
  say("hash", r.hash);
  if (!r.superseded) put(envelope ? "envelope" : "body", /[\r\n]/.test(r.body) || !r.body ? JSON.stringify(r.body) : r.body);
  return `{${parts.join(",")}}`;
}

// nothingBut refuses a line with other members, which nothing covers.
export function nothingBut(whole, names) {
  const other = Object.keys(whole).find((name) => !names.includes(name));
  if (other !== undefined) throw new Error(`it has a member ${JSON.stringify(other).slice(0, 42)}, which no export has there`);
}

// halfPair reports whether a string is spelled with half of a surrogate pair, which
// JSON.parse lets pass.
function halfPair(line) {
  if (!/\\ud[89a-f]/i.test(line)) return false;
  for (const [, escape] of line.matchAll(/\\(ud[89ab]..\\ud[c-f]..|u....|.)/gi)) if (escape.length === 5 && /^ud[89a-f]/i.test(escape)) return true;
  return false;
}

function readRecord(whole, line) {
  const r = {
    type: whole.type, index: number(whole.index), seq: number(whole.seq), epoch: text(whole.epoch),
    redacted: whole.redacted === true, superseded: whole.superseded === true,
    hash: hash(whole.hash), rest: hash(whole.rest), salt: "00".repeat(16), to: [], context: "", parent: "", correlations: [], amends: false,
  };
  if (!r.redacted && !r.superseded) {
    if (typeof whole.salt !== "string" || !/^[0-9a-f]{32}$/i.test(whole.salt)) throw new Error("salt is not 16 bytes in hexadecimal");
    r.salt = whole.salt.toLowerCase();
  }
  for (const to of Array.isArray(whole.to) ? whole.to : []) {
    if (typeof to !== "string") throw new Error("to holds something else than strings");
    r.to.push(to);
  }
  const name = r.type === "envelope" ? "envelope" : "body";
  const raw = members(line).findLast(([n]) => n === name)?.[1] ?? "";
  r.body = raw.startsWith('"') ? whole[name] : raw;
  if (r.type === "envelope") readEnvelope(r);
  else readHeader(r, whole);
  r.effective = text(whole.effective) || r.kind;
  return r;
}

function readHeader(r, whole) {
  Object.assign(r, { id: text(whole.id), from: text(whole.from), kind: text(whole.kind), ts: time(text(whole.ts)) });
  if (Number.isNaN(r.ts)) throw new Error("ts is no time");
}

// readEnvelope takes the header out of the envelope, and keeps as e what else it
// is made of.
function readEnvelope(r) {
  if (!r.body.startsWith("{")) throw new Error("it holds no envelope");
  const e = { protocol: "", id: "", from: "", kind: undefined, to: [], correlation: [], array: false, context: "", amends: false, extra: "", payload: "" };
  r.ts = noTime;
  for (const [name, value, spelled] of members(r.body)) readField(e, r, name, value, spelled);
  if (e.kind === undefined) throw new Error("the envelope has no kind");
  Object.assign(r, { e, id: e.id, from: e.from, kind: e.kind, correlations: e.correlation, amends: e.amends });
  if (e.context) Object.assign(r, contextOf(e.context));
}

function readField(e, r, name, value, spelled) {
  switch (name) {
    case "protocol":
      if (!protocols.includes(value)) throw new Error("its protocol is not known");
      e.protocol = JSON.parse(value);
      return;
    case "id":
      e.id = id(name, value);
      return;
    case "from":
    case "kind":
      e[name] = string(name, value);
      return;
    case "ts":
      e.ts = string(name, value);
      r.ts = time(e.ts) || noTime; // which is then not as it was written
      return;
    case "to":
      e.to = ids(name, value);
      return;
    case "correlation_id":
      e.array = value.startsWith("[");
      e.correlation = e.array ? ids(name, value) : [id(name, value)];
      return;
    case "context":
      if (!/^["{]/.test(value)) throw new Error("context is neither an object nor a string");
      e.context = value;
      return;
    case "seq":
      return; // it is the record's to say
    case "amends":
      if (value !== "true" && value !== "false") throw new Error("amends is not a boolean");
      e.amends = value === "true";
      return;
    case "payload":
      e.payload = value;
      return;
    default:
      e.extra += (e.extra && ",") + spelled + ":" + value;
  }
}

function contextOf(raw) {
  if (raw.startsWith('"')) {
    const context = JSON.parse(raw);
    const slash = context.lastIndexOf("/");
    return { context, parent: slash > 0 ? context.slice(0, slash) : "" };
  }
  const given = { context: "", parent: "", more: false };
  for (const [name, value] of members(raw)) {
    if (name === "id" && value.startsWith('"')) given.context = JSON.parse(value);
    else if (name === "parent" && value.startsWith('"')) given.parent = JSON.parse(value);
    else if (name === "metadata" || (name === "type" && value !== '""')) given.more = true;
  }
  return given;
}

// writtenAgain is the envelope as the gateway writes what was read of it.
export function writtenAgain({ e, ts }) {
  const parts = [];
  const put = (name, value) => parts.push(`"${name}":${value}`);
  if (e.protocol) put("protocol", JSON.stringify(e.protocol));
  if (e.id) put("id", JSON.stringify(e.id));
  if (ts !== noTime) put("ts", JSON.stringify(new Date(ts).toISOString()));
  if (e.from) put("from", JSON.stringify(e.from));
  if (e.to.length) put("to", JSON.stringify(e.to));
  put("kind", JSON.stringify(e.kind));
  if (e.array) put("correlation_id", JSON.stringify(e.correlation));
  else if (e.correlation.length) put("correlation_id", JSON.stringify(e.correlation[0]));
  if (e.context) put("context", e.context);
  if (e.amends) put("amends", "true");
  if (e.extra) parts.push(e.extra);
  if (e.payload) put("payload", e.payload);
  return `{${parts.join(",")}}`;
}

// holdsNothing reports whether an envelope holds nothing that redaction takes.
export function holdsNothing(r) {
  return r.e.payload === '{"redacted":true}' && !r.e.extra && !r.more;
}

export const redactable = (r) => !/^(capability|space|system)\//.test(r.effective);

// originHash is what the first record of a space links to.
export const originHash = (space) => digest((p) => (p.text("parley: the chain of a space"), p.text(space)));

// restHash covers what may be redacted.
export function restHash(r) {
  return digest((p) => {
    p.hex(r.salt);
    if (r.type !== "envelope") return p.text(r.body);
    p.text(r.e.payload);
    p.text(r.e.context);
    p.text(r.e.extra);
    p.text(r.e.protocol);
    p.number(r.e.array ? 1 : 0);
  });
}

// chainHash covers the hash of the record before, the header, and the rest.
export function chainHash(r, before) {
  return digest((p) => {
    p.hex(before);
    p.number(types[r.type]);
    p.number(r.index);
    p.number(r.seq);
    p.text(r.epoch);
    p.number(r.ts);
    p.text(r.id);
    p.text(r.from);
    p.list(r.to);
    p.text(r.kind);
    p.text(r.effective);
    p.list(r.correlations);
    p.text(r.context);
    p.text(r.parent);
    p.number(r.amends ? 1 : 0);
    p.hex(r.rest);
  });
}

// Parts is what a hash covers: each part behind its length.
class Parts {
  constructor() {
    this.grow(4096);
  }

  grow(size) {
    const bytes = new Uint8Array(size);
    if (this.bytes) bytes.set(this.bytes);
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
  }

  room(n) {
    if (this.length + n > this.bytes.length) this.grow(2 * (this.length + n));
  }

  number(n) {
    this.room(8);
    this.view.setBigUint64(this.length, BigInt.asUintN(64, BigInt(n)));
    this.length += 8;
  }

  text(s) {
    this.room(8 + 3 * s.length);
    const { written } = encoder.encodeInto(s, this.bytes.subarray(this.length + 8));
    this.number(written);
    this.length += written;
  }

  list(l) {
    this.number(l.length);
    for (const s of l) this.text(s);
  }

  hex(s) {
    this.number(s.length / 2);
    this.room(s.length / 2);
    for (let i = 0; i < s.length; i += 2) this.bytes[this.length++] = parseInt(s.slice(i, i + 2), 16);
  }
}

const encoder = new TextEncoder();
const most = 1 << 20; // bytes that are kept between two hashes
let parts = new Parts();

// digest takes a copy of the parts at once: they are used again.
async function digest(write) {
  if (parts.bytes.length > most) parts = new Parts();
  parts.length = 0;
  write(parts);
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", parts.bytes.subarray(0, parts.length)));
  let hex = "";
  for (const b of sum) hex += b.toString(16).padStart(2, "0");
  return hex;
}

// parseHead reads INDEX:SEQ:HASH, or the JSON that parley log head writes into a
// pipe. It throws an Error for anything else, which says what is wrong with it.
export function parseHead(given) {
  let head = String(given ?? "").trim();
  if (head.startsWith("{")) {
    try {
      head = String(JSON.parse(head).head);
    } catch {
      // It is told below.
    }
  }
  const [, index, seq, sum] = /^(\d+):(\d+):(\w+)$/.exec(head) ?? [];
  const wrong = sum === undefined ? "paste INDEX:SEQ:HASH, as “parley log head” prints it" : impossible(index, seq, sum);
  if (wrong) throw new Error(`This is not the head of a chain: ${wrong}.`);
  return { index: Number(index), seq: Number(seq), hash: sum.toLowerCase() };
}

// impossible says why there can be no such head, "" where there can.
function impossible(index, seq, sum) {
  if (!/^[0-9a-f]*$/i.test(sum)) return "its HASH holds something else than the digits 0 to 9 and a to f";
  if (sum.length !== 64) return `its HASH has ${sum.length} digits, and every hash has 64`;
  if (![index, seq].every((n) => /^(0|[1-9]\d{0,15})$/.test(n))) return "INDEX and SEQ are whole numbers of at most 16 digits, without zeros in front";
  if (Number(seq) > Number(index)) return `it counts more messages (SEQ ${seq}) than records (INDEX ${index})`;
  return "";
}

function hash(given) {
  if (typeof given !== "string" || !/^[0-9a-f]{64}$/i.test(given)) throw new Error("a hash is no SHA-256 hash in hexadecimal");
  return given.toLowerCase();
}

const text = (given) => (typeof given === "string" ? given : "");
const number = (given) => (Number.isSafeInteger(given) && given >= 0 ? given : 0);
const time = (given) => (written.test(given) ? Date.parse(given) : NaN);

function string(name, value) {
  if (!value.startsWith('"')) throw new Error(`${name} is not a string`);
  return JSON.parse(value);
}

function id(name, value) {
  const s = string(name, value);
  if (!/^[!-~]{1,128}$/.test(s)) throw new Error(`${name} is not 1 to 128 visible ASCII characters`);
  return s;
}

function ids(name, value) {
  if (!value.startsWith("[")) throw new Error(`${name} is not an array`);
  return items(value).map((v) => id(name, v));
}
