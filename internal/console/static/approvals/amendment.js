// A proposal's call as somebody would rather have it: the text that is edited, what
// may be wrong with it, and the envelope that sends it as one's own. What is not
// edited keeps its bytes.
import { compact, differences, place, problem, withMember } from "../base/json_text.js";
import { at, indent } from "../base/raw.js";
import { hints } from "./schema_hints.js";
import { byteLength, escaped, size } from "../base/text.js";

const mostDrafts = 50;
const mostHinted = 2_000_000; // characters: a value is made of what is shorter, for hints

// Drafts outlive their dialog, for whoever wrote them: closing one, or a refusal,
// loses nothing.
const drafts = new Map();

// editable is the part of a call's params that is edited: the arguments, or all
// params where the method has none. Its name is "" for all.
export function editable(method, params = "{}") {
  const given = at(params, "arguments");
  if (given !== undefined) return ["arguments", given];
  return ["tools/call", "prompts/get"].includes(method) ? ["arguments", "{}"] : ["", params];
}

export class Amendment {
  // info and text are a proposal, as it is read and as it is written; limits those
  // of the space.
  constructor({ me, space, info, text, limits }) {
    Object.assign(this, { info, limits });
    this.key = JSON.stringify([me, space, info.id]);
    this.method = at(text, "payload", "method");
    this.params = at(text, "payload", "params") ?? "{}";
    [this.member, this.proposed] = editable(info.payload?.method, this.params);
    this.original = escaped(indent(this.proposed));
    this.text = drafts.get(this.key) ?? this.original;
  }

  static begun({ me, space, id }) {
    return drafts.has(JSON.stringify([me, space, id]));
  }

  edit(text) {
    this.text = text;
    drafts.delete(this.key);
    if (text !== this.original) drafts.set(this.key, text);
    if (drafts.size > mostDrafts) drafts.delete(drafts.keys().next().value);
  }

  // done forgets the draft: it has been sent.
  done() {
    drafts.delete(this.key);
  }

  // wrong is what keeps the text from being sent, as {message} and, where it is at a
  // place of the text, {at, line, column}.
  wrong() {
    const found = problem(this.text, (this.limits?.nesting ?? 128) - (this.member ? 3 : 2));
    if (found) return { ...found, ...place(this.text, found.at) };
    const most = this.limits?.envelope_bytes;
    const length = byteLength(this.envelope({ id: "x".repeat(36), to: this.info.to?.[0] ?? "" }));
    if (most && length > most) return { message: `the call would have ${size(length)}, and at most ${size(most)} are taken` };
    if (!this.member && subject(this.call()) !== subject(this.params)) return { message: "what it asks for has to stay: change other members, or propose another call" };
  }

  // hints say where the text is not as the tool's schema has it.
  hints(schema = { type: "object" }) {
    if (!this.member || this.text.length > mostHinted) return [];
    return hints(schema, JSON.parse(this.text));
  }

  // same reports whether the text stands for what was proposed.
  get same() {
    return differences(this.proposed, compact(this.text), 1).length === 0;
  }

  // edited is the text, laid out as the original is.
  get edited() {
    return escaped(indent(compact(this.text)));
  }

  // call is the params that would be sent.
  call() {
    const value = compact(this.text);
    return this.member ? withMember(this.params, this.member, value) : value;
  }

  envelope({ id, to }) {
    const text = JSON.stringify;
    const kind = this.info.kind.replace(/^mcp\/proposal/, "mcp/request");
    return `{"id":${text(id)},"kind":${text(kind)},"to":[${text(to)}],"correlation_id":${text(this.info.id)},"amends":true,"payload":{"method":${this.method},"params":${this.call()}}}`;
  }
}

// subject is what params name that are not arguments: a resource, or what is to be
// completed.
function subject(params) {
  const name = at(params, "uri") ?? at(params, "ref", "name") ?? at(params, "ref", "uri");
  return name === undefined ? undefined : JSON.parse(name);
}
