// Capabilities in words, and made from what somebody chose. Pure. The words are a
// help beside the pattern, which is always shown and alone counts.
import { clip } from "../base/text.js";

const mostWords = 160; // characters of a name in words

// parse is a capability, a string or an object, taken apart; undefined where it is
// neither.
export function parse(capability) {
  const object = typeof capability === "object" && capability !== null;
  const kind = object ? capability.kind : capability;
  if (typeof kind !== "string") return undefined;
  const deny = kind.startsWith("!");
  const [type = "", method = "*", ...rest] = kind.slice(deny ? 1 : 0).split(":");
  const subject = rest.length ? rest.join(":") : "*";
  const { params, context, to } = object ? capability : {};
  return { deny, type, method, subject, params, context: context?.type, to: Array.isArray(to) ? to : [] };
}

// text is a capability as it is written.
export const text = (capability) => (typeof capability === "string" ? capability : (JSON.stringify(capability) ?? ""));

// words say what a capability lets its owner do: "may call tools named read_* at files".
export function words(capability) {
  const p = parse(capability);
  if (!p) return "is not understood here";
  const to = p.to.length ? ` ${p.type === "chat" ? "to" : "at"} ${list(p.to)}` : "";
  const context = p.context === undefined ? "" : ` within ${p.context === "*" ? "a context that has a type" : `contexts of type ${name(p.context)}`}`;
  const params = p.params === undefined ? "" : `, ${given(p.params)}`;
  return `${p.deny ? "may not" : "may"} ${verb(p)}${to}${context}${params}`;
}

function verb(p) {
  const { type } = p;
  if (type === "*") return "send anything";
  if (type === "chat") return "say something";
  if (type === "mcp/*") return "call, propose, answer and decide anything";
  if (type === "mcp/request") return request(p);
  if (type === "mcp/proposal") return `propose ${proposed(p)}`;
  if (type === "mcp/response") return p.method === "*" ? "answer calls" : answers.get(p.method) ?? `answer ${name(p.method)}`;
  if (type === "mcp/reject") return `reject proposals${p.method === "*" ? "" : ` of ${name(p.method)}`}`;
  if (type === "mcp/withdraw") return "withdraw what it proposed";
  return orders.get(type) ?? `send ${name([type, p.method, p.subject].join(":").replace(/(:\*)+$/, ""))}`;
}

const answers = new Map([["sampling/createMessage", "answer for a model"], ["elicitation/create", "fill in forms"]]);

const orders = new Map([
  ["capability/*", "grant and revoke what it may send itself"],
  ["capability/grant", "grant what it may send itself"],
  ["capability/revoke", "revoke what it may send itself"],
  ["space/*", "kick, redact, accept tools, restart servers and look after webhooks"],
  ["space/kick", "close somebody's connections"],
  ["space/redact", "redact what was said"],
  ["space/accept-tool", "accept changed tools"],
  ["space/restart-bridge", "restart servers"],
  ["space/webhook", "look after webhooks"],
]);

function request({ method, subject }) {
  if (method === "*" && subject === "*") return "make any call";
  if (method === "tools/call") return subject === "*" ? "call any tool" : `call ${tools(subject)}`;
  if (method === "prompts/get") return subject === "*" ? "get any prompt" : `get the prompt ${name(subject)}`;
  if (method === "resources/read") return subject === "*" ? "read any resource" : `read ${name(subject)}`;
  if (method === "*/list") return "list what others offer";
  if (method === "notifications/*") return "send progress and other notifications";
  if (method === "sampling/createMessage") return "ask for a model's reply";
  if (method === "elicitation/create") return "ask somebody to fill in a form";
  return `request ${name(method)}${subject === "*" ? "" : ` of ${name(subject)}`}`;
}

function proposed({ method, subject }) {
  if (method === "*" && subject === "*") return "any call";
  if (method === "tools/call") return subject === "*" ? "calls of any tool" : `calls of ${tools(subject)}`;
  return `${name(method)}${subject === "*" ? "" : ` of ${name(subject)}`}`;
}

const tools = (subject) => (subject.includes("*") ? `tools named ${name(subject)}` : `the tool ${name(subject)}`);
const name = (s) => clip(String(s), mostWords);
const list = (all) => all.slice(0, 5).map(name).join(" or ") + (all.length > 5 ? " or others" : "");

// given says what params have to be: their first few.
function given(params) {
  const found = [];
  const walk = (value, path) => {
    if (found.length > 3) return;
    if (value && typeof value === "object" && !Array.isArray(value)) for (const key of Object.keys(value)) walk(value[key], [...path, key]);
    else found.push(`${name(path.join("."))} is ${name([].concat(value).map((v) => (typeof v === "string" ? v : JSON.stringify(v))).join(" or "))}`);
  };
  walk(params, []);
  return `where ${found.slice(0, 3).join(" and ")}${found.length > 3 ? " and more" : ""}`;
}

// ungranted are the capabilities that no grant gave: those of the configuration, and
// the denials that revocations left.
export function ungranted(capabilities, grants) {
  const granted = new Map();
  for (const g of grants) for (const c of g.capabilities) granted.set(text(c), (granted.get(text(c)) ?? 0) + 1);
  return capabilities.filter((c) => {
    const left = granted.get(text(c)) ?? 0;
    granted.set(text(c), left - 1);
    return left <= 0;
  });
}

// choices are what a right may be about, each with what else it asks for.
export const choices = [
  { id: "call", label: "Call tools", kind: "mcp/request:tools/call", tool: true },
  { id: "propose", label: "Propose calls of tools", kind: "mcp/proposal:tools/call", tool: true },
  { id: "any-call", label: "Make any call", kind: "mcp/request:*", server: true },
  { id: "any-proposal", label: "Propose any call", kind: "mcp/proposal:*", server: true },
  { id: "list", label: "List what others offer", kind: "mcp/request:*/list", server: true },
  { id: "reject", label: "Reject proposals", kind: "mcp/reject:*" },
  { id: "chat", label: "Say something", kind: "chat" },
  { id: "grant", label: "Grant and revoke", kind: "capability/*" },
  { id: "own", label: "A pattern of my own…", own: true },
];

// capabilityOf is the capability that was chosen: {choice, tool, server, context, own}.
// It throws where a pattern of one's own is no JSON.
export function capabilityOf({ choice, tool = "", server = "", context = "", own = "" }) {
  const chosen = choices.find((c) => c.id === choice) ?? choices[0];
  if (chosen.own) return /^\s*[{"]/.test(own) ? JSON.parse(own) : own.trim();
  const subject = chosen.tool && tool.trim() && tool.trim() !== "*" ? ":" + tool.trim() : "";
  const kind = chosen.kind + subject;
  const to = server && (chosen.tool || chosen.server) ? { to: [server] } : {};
  const within = context.trim() ? { context: { type: context.trim() } } : {};
  return server && to.to || context.trim() ? { kind, ...within, ...to } : kind;
}
