// Walks the hash chain of a space record by record, as “parley log verify” does:
// the same rules, the same words. Pure but for SHA-256.
//
//	const v = await Verifier.from(space);      // or new Verifier(space, state)
//	await v.check(["{…}", "{…}"]);             // lines, in order
//	v.end();
//
// check and end throw a Break, which names the first place that does not hold.
// state() can be kept, and gone on from.
import { chainHash, holdsNothing, originHash, readLine, redactable, restHash, writtenAgain } from "./record.js";

const mostOrders = 1 << 20; // redactions that wait for their order

// A Break that is one against a head that was kept elsewhere names that as given, and
// as found what the chain has there, or where it ends.
export class Break extends Error {
  constructor(index, seq, reason, given, found) {
    super(reason);
    Object.assign(this, { index, seq }, given && !given.own ? { given, found } : {});
  }
}

// Passed says that a head cannot be checked any more.
export class Passed extends Error {}

// Overtaken says that retention dropped what was to come next.
export class Overtaken extends Error {}

export class Verifier {
  constructor(space, state) {
    this.space = space;
    this.head = state.head;
    this.line = state.line ?? 1; // of the stream; the first says what it is
    this.counts = { ...state.counts };
    this.begin = { ...state.begin }; // what is known of the place behind which the chain begins
    this.waiting = new Map(state.waiting); // redactions whose order has not come yet, by id
    this.replaced = state.replaced; // of the newest two checkpoints, those without a body
    this.kept = []; // heads that were kept elsewhere, not reached yet
    this.beginKept = [];
    this.ended = undefined; // the stream's own head
  }

  static async from(space) {
    const head = { index: 0, seq: 0, hash: await originHash(space) };
    const counts = { records: 0, envelopes: 0, refusals: 0, redacted: 0, checkpoints: 0, markers: 0, dropped: 0 };
    return new Verifier(space, { head, counts, begin: { start: head, linked: true, seqKnown: true }, waiting: [], replaced: [null, null] });
  }

  state() {
    const { head, counts, begin, replaced } = this;
    return { head, counts: { ...counts }, begin: { ...begin }, waiting: [...this.waiting], replaced };
  }

  // against holds the chain against a head that was kept elsewhere, when the walk
  // comes there; one that is our own nobody can have mistyped.
  against(h) {
    if (h.index < this.head.index) throw new Passed(`The head at record ${h.index} lies before the part that is checked.`);
    if (h.index === this.head.index) return this.compare(h);
    this.kept.push(h);
    this.kept.sort((a, b) => a.index - b.index);
  }

  async check(lines) {
    const records = [];
    let broken;
    for (const line of lines) {
      try {
        const r = readLine(line);
        r.line = ++this.line;
        records.push(r);
      } catch (error) {
        broken = `edited: line ${this.line + 1} of the export: ${error.message}`;
        break;
      }
    }
    await this.walk(records);
    if (broken) throw this.here(broken);
  }

  // walk has all hashes of some records made at once: each covers the one that the
  // record before says it has, which has been checked by the time this one is.
  async walk(records) {
    let before = this.head.hash;
    const sums = await Promise.all(records.map(async (r) => {
      if (!r.hash) return;
      const link = before;
      before = r.hash;
      return Promise.all([r.redacted || r.superseded ? r.rest : restHash(r), chainHash(r, link)]);
    }));
    for (const [i, r] of records.entries()) {
      if (this.ended) throw this.here(`edited: line ${r.line} of the export: something stands after the head`);
      if (r.type === "overtaken") throw new Overtaken();
      if (r.type === "head") this.concluded(r.head);
      else await this.one(r, ...sums[i]);
    }
  }

  // concluded is the stream's own end. Where nothing came after what was asked for,
  // it says nothing.
  concluded(head) {
    this.ended = head;
    if (head.index === 0 && this.head.index > 0) return;
    if (head.index < this.head.index) throw this.here(`edited: the export's own head is record ${head.index}`);
    this.against({ ...head, own: true });
  }

  async one(r, rest, link) {
    if (this.head.index === 0 && r.index > 1) this.later(r.index - 1);
    const reason = this.place(r) || content(r, rest);
    if (reason) throw this.broken(r, reason);
    if (!this.takes(r) && link !== r.hash) throw this.broken(r, "edited: the hash does not follow from the record before and this one's header");
    const before = this.head;
    this.head = { index: r.index, seq: Math.max(r.seq, before.seq), hash: r.hash };
    try {
      while (this.kept[0]?.index === r.index) this.compare(this.kept.shift());
      if (r.type === "marker") await this.marker(r);
    } catch (error) {
      this.head = before;
      throw error;
    }
    this.pass(r);
    this.count(r);
  }

  place(r) {
    const want = this.head.index + 1;
    const { seqKnown } = this.begin;
    if (r.index === want + 1) return `cut out: record ${want} is missing`;
    if (r.index > want) return `cut out: records ${want} to ${r.index - 1} are missing`;
    if (r.index < want) return `swapped: record ${r.index} stands where record ${want} should`;
    if (r.type !== "envelope") return r.seq === 0 ? "" : `edited: a record of type ${r.type} has seq ${r.seq}`;
    if (!seqKnown && (r.seq === 0 || r.seq > r.index)) return `edited: record ${r.index} has seq ${r.seq}`;
    if (seqKnown && r.seq !== this.head.seq + 1) return `edited: seq is ${r.seq} and should be ${this.head.seq + 1}`;
    return "";
  }

  // later moves the beginning behind an index: what was before has been dropped,
  // says a marker that is still to come.
  later(index) {
    const start = { index, seq: 0, hash: "" };
    this.begin = { start, linked: false, seqKnown: false };
    for (; this.kept.length && this.kept[0].index <= index; this.kept.shift()) {
      if (this.kept[0].index === index) this.beginKept.push(this.kept[0]);
      else this.begin.missed = this.kept[0];
    }
    this.head = start;
  }

  // takes sees each record that stands in its place, and reports whether it is the
  // first and its link cannot be checked yet.
  takes(r) {
    const { begin } = this;
    if (r.type === "envelope" && !begin.seqKnown) {
      begin.start = { ...begin.start, seq: r.seq - 1 };
      begin.seqKnown = true;
    }
    if (begin.linked || begin.first) return false;
    begin.first = { ...r, body: "", e: undefined };
    return true;
  }

  async marker(r) {
    const through = dropped(r);
    if (!through) throw new Break(r.index, this.head.seq, "edited: it does not say what was dropped");
    const { begin } = this;
    if (begin.linked || through.index !== begin.start.index) return; // an earlier drop, or one that came while the chain was read
    const wrong = (reason) => new Break(begin.start.index + 1, begin.start.seq + 1, reason);
    if ((await chainHash(begin.first, through.hash)) !== begin.first.hash) throw wrong("edited: it does not follow from what was dropped before it, as the marker names that");
    if (begin.seqKnown && begin.start.seq !== through.seq) throw wrong(`edited: the envelopes begin behind seq ${begin.start.seq}, the marker says ${through.seq}`);
    this.begin = { start: through, linked: true, seqKnown: true, missed: begin.missed };
    for (const h of this.beginKept) {
      if (h.seq !== through.seq || h.hash !== through.hash) throw new Break(h.index, through.seq, "written anew: it differs from the head that was kept elsewhere", h, through);
    }
    this.head = { ...this.head, seq: Math.max(this.head.seq, through.seq) };
  }

  compare(h) {
    const same = h.index === this.head.index && h.hash === this.head.hash;
    if (same && (h.seq === this.head.seq || !this.begin.seqKnown)) return;
    throw new Break(h.index, this.head.seq, "written anew: it differs from the head that was kept elsewhere", h, this.head);
  }

  // pass looks for what explains a redaction, or a checkpoint without a body,
  // further on.
  pass(r) {
    if (r.type === "checkpoint") {
      const gone = r.superseded ? { index: r.index, seq: this.head.seq, reason: "edited: it is marked as superseded, and no newer checkpoints replace it" } : null;
      this.replaced = [this.replaced[1], gone];
    }
    if (r.type !== "envelope") return;
    if (r.redacted) {
      if (this.waiting.has(r.id)) return;
      if (this.waiting.size === mostOrders) throw new Error(`The chain cannot be checked: more than ${mostOrders} redactions wait for their orders.`);
      this.waiting.set(r.id, { index: r.index, seq: r.seq });
    } else if (r.kind === "space/redact") {
      this.waiting.delete(JSON.parse(r.e.payload || "null")?.id);
    }
  }

  count(r) {
    const c = this.counts;
    if (++c.records === 1) c.dropped = r.index - 1;
    c[{ envelope: "envelopes", refused: "refusals", flood: "refusals", checkpoint: "checkpoints", marker: "markers" }[r.type]]++;
    if (r.redacted) c.redacted++;
  }

  // end says what the chain still owes where it ends.
  end() {
    const { begin } = this;
    if (!this.ended) throw this.here("cut off: the export does not end with a head");
    if (this.kept.length) {
      const [first] = this.kept;
      throw new Break(this.head.index + 1, Math.min(this.head.seq + 1, first.seq), `cut off: the chain ends here, the head that was kept is record ${first.index}`, first, this.head);
    }
    if (!begin.linked && begin.first) throw this.missing();
    const owed = [...this.waiting.values()].map((w) => ({ ...w, reason: "redacted without an order on record" }));
    owed.push(...this.replaced.filter(Boolean).slice(0, 1));
    owed.sort((a, b) => a.index - b.index);
    if (owed.length) throw new Break(owed[0].index, owed[0].seq, owed[0].reason);
    if (begin.missed) throw new Passed(`The head at record ${begin.missed.index} cannot be checked any more: records up to ${begin.start.index} were dropped.`);
  }

  missing() {
    const { index } = this.begin.start;
    const what = index > 1 ? `records 1 to ${index} are` : "record 1 is";
    return new Break(1, 1, `cut off at its beginning: ${what} missing, and no marker says that they were dropped`);
  }

  // here is a break where the walk stands.
  here(reason) {
    return new Break(this.head.index + 1, this.head.seq + 1, reason);
  }

  broken(r, reason) {
    if (!this.begin.linked && this.begin.first && r.index <= this.begin.start.index) return this.missing(); // what is missing stands further on
    if (r.index !== this.head.index + 1) return this.here(reason); // what is wrong is what should stand here
    return new Break(r.index, r.seq || this.head.seq, reason);
  }
}

// content holds a record's body against its header and its salted hash.
function content(r, rest) {
  if (r.type !== "envelope") {
    if (r.redacted) return "edited: it is marked as redacted and is not";
    if (r.superseded) return r.type === "checkpoint" && !r.body ? "" : "edited: it is marked as superseded and is not";
    return rest === r.rest ? "" : "edited: the body does not match its hash";
  }
  if (writtenAgain(r) !== r.body) return "edited: the body is not as it was written";
  if (r.e.to.some((to, i) => r.to[i] !== to)) return "edited: header and body disagree on to";
  if (r.superseded) return "edited: it is marked as superseded and is not";
  if (!r.redacted) return rest === r.rest ? "" : "edited: payload, context or unknown fields do not match their hash";
  if (!holdsNothing(r)) return "edited: it is marked as redacted and is not";
  return redactable(r) ? "" : "edited: it is marked as redacted, and its kind cannot be";
}

// dropped is the head up to which a marker says that everything was dropped.
function dropped(marker) {
  try {
    const { index, seq, hash } = JSON.parse(marker.body);
    const fits = Number.isSafeInteger(index) && Number.isSafeInteger(seq) && /^[0-9a-f]{64}$/i.test(hash);
    return fits && seq >= 0 && seq <= index && index < marker.index ? { index, seq, hash: hash.toLowerCase() } : undefined;
  } catch {
    return undefined;
  }
}
