// The envelope that answers a request, as text: its JSON-RPC id and its context stay as
// they are spelled, and so does every number of the answer.
import { at } from "../base/raw.js";

// answerTo is to the one who asks, and to the proposer where the request fulfils a
// proposal. Outcome is [name, JSON]: a result or an error.
export function answerTo(request, asker, store, id, [name, outcome]) {
  const correlated = [].concat(JSON.parse(at(request, "correlation_id") ?? "[]"));
  const proposers = correlated.map((one) => store.byID.get(one)).filter((row) => row?.type === "proposal").map((row) => row.from);
  const kind = JSON.parse(at(request, "kind")).replace(/^mcp\/request/, "mcp/response");
  const rpc = at(request, "payload", "id") ?? "";
  return object([
    ["id", JSON.stringify(id)],
    ["kind", JSON.stringify(kind)],
    ["to", JSON.stringify([...new Set([asker, ...proposers])])],
    ["correlation_id", at(request, "id")],
    ["context", contextOf(request)],
    ["payload", object([["jsonrpc", '"2.0"'], ["id", /^["\-\d]/.test(rpc) ? rpc : "0"], [name, outcome]])],
  ]);
}

// contextOf is the request's context, without the metadata that its sender gave it.
function contextOf(request) {
  const raw = at(request, "context");
  if (!raw?.startsWith("{") || at(raw, "metadata") === undefined) return raw;
  return object(["id", "type", "parent"].map((name) => [name, at(raw, name)]));
}

function object(members) {
  return `{${members.filter(([, value]) => value !== undefined).map(([name, value]) => `"${name}":${value}`).join(",")}}`;
}
