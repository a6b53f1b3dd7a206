// The gateway's HTTP API, with the session's cookie. Whatever is not as it should be is
// an APIError that a person can read.
import { ended, sentence } from "./text.js";

export class APIError extends Error {
  constructor(status, problem) {
    super(ended(problem.detail || problem.title || `the gateway answered ${status}`));
    this.status = status;
    this.code = problem.code ?? "";
    this.hint = sentence(problem.hint ?? "");
    this.problem = problem; // with what else it says
  }
}

async function ask(method, path, body, signal) {
  let answer, text;
  try {
    answer = await fetch(path.startsWith("/") ? path : "/v1/" + path, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body), // text goes out as it is
      cache: "no-store",
      signal,
    });
    text = await answer.text();
  } catch (error) {
    if (signal?.aborted) throw error; // nobody wants it any more
    throw new APIError(0, { detail: "The gateway cannot be reached." });
  }
  if (answer.ok) return text;
  let problem = {};
  try {
    problem = JSON.parse(text) ?? {};
  } catch {
    // Not the gateway's own words: the status has to do.
  }
  throw new APIError(answer.status, problem);
}

// newID is an envelope's. Browsers make UUIDs only where the page came by TLS or
// from this machine.
export const newID = () => crypto.randomUUID?.() ?? Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");

const json = async (text) => JSON.parse((await text) || "null");
const inSpace = (space, path) => `spaces/${encodeURIComponent(space)}/${path}`;
const name = (id) => encodeURIComponent(id).replace(/^\.{1,2}$/, (dots) => dots.replaceAll(".", "%2E"));

export const whoAmI = () => json(ask("GET", "session"));
export const signIn = (how) => json(ask("POST", "session", how));
export const signOut = (everywhere) => ask("DELETE", everywhere ? "session?everywhere=true" : "session");

// These answer the text as it came, so that its values can be shown as written.
export const openProposals = (space) => ask("GET", inSpace(space, "proposals?state=open&limit=1000"));
export const proposals = (space, filter) => ask("GET", inSpace(space, "proposals?" + new URLSearchParams(filter)));
export const proposal = (space, id) => ask("GET", inSpace(space, `proposals/${name(id)}`));
export const envelope = (space, id) => ask("GET", inSpace(space, `envelopes/${name(id)}`));

export const before = (space, context, seq) =>
  json(ask("GET", inSpace(space, "envelopes?" + new URLSearchParams({ context, before: seq, order: "desc", limit: 20 }))));
export const listed = (space, filter) => ask("GET", inSpace(space, "envelopes?" + new URLSearchParams(filter)));
// search and chain answer the text as it came; given are pairs of names and values.
export const search = (space, given, signal) => ask("GET", inSpace(space, "envelopes?" + new URLSearchParams(given)), undefined, signal);
export const chain = (space, id, signal) => ask("GET", inSpace(space, `envelopes/${name(id)}/chain`), undefined, signal);
export const head = (space) => json(ask("GET", inSpace(space, "head")));
export const replayPath = (space, context, given) => "/v1/" + inSpace(space, `contexts/${name(context)}/replay?` + new URLSearchParams(given));
export const at = (space, seq) =>
  json(ask("GET", inSpace(space, `envelopes?after=${seq - 1}&before=${seq + 1}&limit=1`)));
export const tools = (space, participant) =>
  json(ask("GET", inSpace(space, "tools?" + new URLSearchParams({ participant }))));
export const participants = (space, given) => json(ask("GET", inSpace(space, "participants?" + new URLSearchParams(given))));
export const participant = (space, id) => json(ask("GET", inSpace(space, `participants/${name(id)}`)));
export const bridges = (space) => json(ask("GET", inSpace(space, "bridges")));
export const webhooks = (space) => json(ask("GET", inSpace(space, "webhooks")));
const dead = (hook, id) => `webhooks/${name(hook)}/dead${id ? "/" + name(id) : ""}`;
export const deadLetters = (space, hook) => json(ask("GET", inSpace(space, dead(hook))));
export const retryDead = (space, hook, id) => ask("POST", inSpace(space, dead(hook, id) + "/retry"));
export const dropDead = (space, hook, id) => ask("DELETE", inSpace(space, dead(hook, id)));
export const enableWebhook = (space, hook) => ask("POST", inSpace(space, `webhooks/${name(hook)}/enable`));
export const metrics = () => ask("GET", "/metrics");
export const ready = () => json(ask("GET", "/readyz"));
// may is the gateway's judgement of an envelope, given as an object or as JSON.
export const may = (space, id, envelope) => json(ask("POST", inSpace(space, `participants/${name(id)}/may`), envelope));

// With the code of an approval link, and without a session.
export const linked = (body) => ask("POST", "approval", body);
export const fulfilLinked = (body) => ask("POST", "approval/fulfil", body);
export const rejectLinked = (body) => ask("POST", "approval/reject", body);

export const fulfil = (space, id, body) => ask("POST", inSpace(space, `proposals/${name(id)}/fulfil`), body);
export const reject = (space, id, body) => ask("POST", inSpace(space, `proposals/${name(id)}/reject`), body);
export const send = (space, envelope) => ask("POST", inSpace(space, "envelopes"), envelope);
