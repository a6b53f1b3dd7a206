// One run of a verification: what the gateway streams is walked up to a bound, so
// that a page can go on with a long record when it likes.
//
//	const result = await verify({ space, open, most: 100_000 });
//
// open(after) is the stream behind a record. The result is {outcome, …}: holds,
// more (the bound was reached), broken, passed (a head cannot be checked any
// more), stopped.
import { lines } from "../base/lines.js";
import { nothingBut } from "./record.js";
import { Break, Overtaken, Passed, Verifier } from "./verifier.js";

const tries = 3;

export async function verify(o) {
  for (let left = tries; ; left--) {
    try {
      return await once(o);
    } catch (error) {
      if (!(error instanceof Overtaken) || left === 1) throw error;
      o = { ...o, kept: [...(o.kept ?? []), ...(o.state ? [{ ...o.state.head, own: true }] : [])], state: undefined }; // from what is there now
    }
  }
}

async function once({ space, open, state, kept = [], most = Infinity, progress = () => {}, signal }) {
  const v = state ? new Verifier(space, { ...state, line: 1 }) : await Verifier.from(space);
  const told = (outcome, more) => ({ outcome, head: v.head, counts: v.counts, state: v.state(), ...more });
  const begun = v.counts.records;
  try {
    for (const h of kept) v.against(h);
    let first = true;
    let linked = v.head.index === 0;
    for await (let some of lines(await open(v.head.index))) {
      if (first) {
        opening(some.shift(), space);
        first = false;
      }
      if (!linked && some.length) {
        overtaken(v, some[0]);
        linked = true;
      }
      const room = most - (v.counts.records - begun);
      const bounded = some.length > room;
      if (bounded) some = some.slice(0, room);
      await v.check(some);
      progress({ head: v.head, counts: v.counts });
      if (signal?.aborted) return told("stopped");
      if (v.ended) break;
      if (bounded) return told("more");
    }
    v.end();
    return told("holds");
  } catch (error) {
    if (signal?.aborted) return told("stopped");
    if (error instanceof Break) return told("broken", { broken: { index: error.index, seq: error.seq, reason: error.message, given: error.given, found: error.found } });
    if (error instanceof Passed) return told("passed", { message: error.message });
    throw error;
  }
}

function opening(line, space) {
  let said = {};
  try {
    said = JSON.parse(line) ?? {};
  } catch {
    // It is told below.
  }
  if (said.type !== "export" || said.version !== 1) throw new Error("This is not a record that this page can read.");
  nothingBut(said, ["type", "version", "space"]);
  if (said.space !== space) throw new Break(1, 1, "this is the record of another space");
}

// overtaken looks whether what comes first follows what was walked before. Where
// retention dropped what stood between, all is walked anew.
function overtaken(v, line) {
  const [, index] = /^\{"type":"\w+","index":(\d+)/.exec(line) ?? [];
  if (Number(index) > v.head.index + 1) throw new Overtaken();
}
