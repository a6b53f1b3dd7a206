// What was decided before on calls alike: of the same tool, at the same participant.
import * as api from "../base/api.js";
import { editable } from "./amendment.js";
import { differences } from "../base/json_text.js";
import { at, items } from "../base/raw.js";

const mostListed = 5;
const mostAsked = 30; // of which these were decided last
const mostDifferences = 3;

// earlier are the newest decisions on proposals like one, given as its record and
// its text: {id, from, state, by, when, reason, message, differences}. Without
// differences it asked for the same; they are undefined where nobody can tell.
export async function earlier(space, info, text, to) {
  const kind = info.kind.replaceAll("*", "\\*");
  const answer = await api.proposals(space, { state: "ended", order: "desc", limit: mostAsked, kind, ...(to ? { to } : {}) });
  const own = part(info, text);
  const found = items(at(answer, "items") ?? "[]").map((one) => [JSON.parse(one), one]).filter(([p]) => p.id !== info.id)
    .sort(([a], [b]) => Date.parse(b.closed?.at) - Date.parse(a.closed?.at) || b.seq - a.seq).slice(0, mostListed);
  return Promise.all(found.map(async ([p, one]) => {
    const theirs = part(p, one);
    return {
      id: p.id, from: p.from, state: p.state, by: p.closed?.by, when: p.closed?.at, reason: p.closed?.reason,
      message: p.state === "rejected" ? await message(space, p.closed) : undefined,
      differences: own === undefined || theirs === undefined ? undefined : differences(theirs, own, mostDifferences + 1),
    };
  }));
}

// part is what two calls of the same tool can differ in.
function part(info, text) {
  const params = at(text, "payload", "params");
  return info.payload === undefined ? undefined : editable(info.payload?.method, params)[1];
}

// message is what was said to a rejection, beside its reason.
async function message(space, closed) {
  try {
    const said = JSON.parse(await api.envelope(space, closed.id)).payload?.message;
    return typeof said === "string" ? said : undefined;
  } catch {
    return undefined; // it is a help, and no more
  }
}
