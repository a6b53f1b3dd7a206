// What the gateway says to what one is about to decide. It is asked before, so that
// what it would refuse is not offered. Where it has not answered all is offered: it
// judges anyway.
import { html, nothing } from "../vendor/lit-3.3.3.js";
import * as api from "../base/api.js";
import { clip, ended, sentence, visible } from "../base/text.js";

const mostShown = 400; // characters of a pattern

// judged are the answers to what can be sent of a proposal: {approve, amend, reject, send}.
// What is not asked, or was not answered, is missing. to is who would serve the call,
// draft an amended call as it would be sent.
export async function judged({ space, me, info, method, params, to, draft }) {
  const ask = (envelope) => api.may(space, me, envelope).catch(() => undefined);
  const [approve, reject, send] = await Promise.all([
    to && method ? ask(fulfilment(info, to, `{"method":${method}${params === undefined ? "" : `,"params":${params}`}}`)) : undefined,
    ask({ kind: kindAs(info, "mcp/reject"), to: [info.from], correlation_id: [info.id], payload: { reason: "disagree" } }),
    draft ? ask(draft) : undefined,
  ]);
  // Who may not make this call may be allowed others of its kind.
  const amend = !forbids(approve) || !byRights(approve) ? approve : await ask(fulfilment(info, to));
  return { approve, amend, reject, send };
}

const kindAs = (info, type) => info.kind.replace(/^mcp\/proposal/, type);

// fulfilment is the call as it would be sent; without a payload whatever its params are.
function fulfilment(info, to, payload) {
  const text = JSON.stringify;
  return `{"kind":${text(kindAs(info, "mcp/request"))},"to":[${text(to)}],"correlation_id":[${text(info.id)}]${payload ? `,"payload":${payload}` : ""}}`;
}

// forbids reports whether an answer says that one may not. Refusals for other reasons
// pass by, as that nobody serves the call at the moment, or have words of their own.
export function forbids(answer) {
  return answer?.allowed === false && !answer.depends && answer.refusal?.error === "capability_violation";
}

// byRights reports whether it is our rights that stand in the way, not the tool.
function byRights({ needs, by }) {
  return needs !== undefined || denial(by);
}

const denial = (by) => String(by?.kind ?? by).startsWith("!");

// mayNot says what one may not do, and what stands against it; it describes the buttons
// by its id.
export function mayNot(answers, acts, id) {
  const because = new Map();
  for (const act of acts) {
    const answer = answers?.[act];
    if (!forbids(answer)) continue;
    const key = JSON.stringify([answer.needs, answer.by, byRights(answer)]);
    because.set(key, { answer, verbs: [...(because.get(key)?.verbs ?? []), act] });
  }
  if (!because.size) return nothing;
  return html`<div class="warning bounded" id=${id} role="note">${[...because.values()].map((one) => html`<p>You may not ${one.verbs.join(" or ")} this, the gateway says: ${reason(one.answer)}</p>`)}</div>`;
}

function reason({ why, by, needs, refusal }) {
  if (!byRights({ needs, by })) return html`<bdi>${visible(ended(refusal.message))}</bdi> ${refusal.hint ? visible(sentence(refusal.hint)) : nothing}`;
  return html`${visible(why)}${by === undefined ? "." : html`: ${pattern(by)}.`} ${needs === undefined ? nothing : html`It takes ${pattern(needs)}.`}`;
}

const pattern = (capability) => html`<code><bdi>${visible(clip(typeof capability === "string" ? capability : JSON.stringify(capability), mostShown))}</bdi></code>`;
