// What one thing led to, and what led to it, in order and in words. Pure.
import { Store } from "../room/store.js";

const roles = { "mcp/proposal": "Proposal", "mcp/request": "Call", "mcp/response": "Result", "mcp/reject": "Decision", "mcp/withdraw": "Withdrawal", conclusion: "Conclusion", chat: "Message", "system/notice": "Notice" };

// Chain is made of envelopes in their order, as parsed; about is the id that it was
// asked for by: an envelope's or a context's.
export class Chain {
  constructor(envelopes, about) {
    const store = new Store({ maxRows: Infinity });
    for (const e of envelopes) store.envelope(e);
    this.store = store;
    this.byID = new Map(envelopes.map((e) => [e.id, e]));
    this.row = this.topic(about);
    let before;
    this.steps = envelopes.map((e) => {
      const step = this.step(e, before);
      before = e;
      return step;
    });
  }

  // topic is the action that is told about: the one that was asked for, or the last.
  topic(about) {
    const isAction = (row) => row?.type === "proposal" || row?.type === "call";
    const row = this.store.byID.get(about);
    if (isAction(row)) return row;
    const actions = this.store.rows.filter(isAction);
    const after = actions.find((a) => answers(this.byID.get(a.id)).some((id) => id === about || this.byID.get(id)?.context?.id === about));
    return after ?? actions.findLast((a) => a.type === "proposal") ?? actions.at(-1);
  }

  step(e, before) {
    const type = e.kind.split(":", 1)[0];
    const row = this.store.byID.get(e.id);
    const context = contextOf(e);
    const step = { e, role: roles[type] ?? (context ? "Reasoning" : "Message"), context, state: "", after: before ? Date.parse(e.ts) - Date.parse(before.ts) : undefined };
    if (type === "mcp/proposal") step.state = row?.state ?? "";
    if (type === "mcp/request" && row?.type === "proposal") Object.assign(step, { role: "Decision and call", state: row.amended ? "approved, changed" : "approved" });
    else if (type === "mcp/request") step.state = row?.state ?? "";
    if (type === "mcp/response") step.state = e.payload?.error !== undefined || e.payload?.result?.isError === true ? "failed" : "done";
    if (type === "mcp/reject") step.state = "rejected";
    if (type === "mcp/withdraw") step.state = "withdrawn";
    if (e.payload?.event === "proposal_expired") Object.assign(step, { role: "Expiry", state: "expired" });
    step.crosses = before ? this.crossing(e) : "";
    return step;
  }

  // crossing is the context whose conclusion an envelope follows from: it names the
  // context, and no envelope has that id.
  crossing(e) {
    return answers(e).find((id) => !this.byID.has(id) && this.store.contexts.has(id) && contextOf(e) !== id) ?? "";
  }

  // settled reports whether nothing more is to come of what is told about.
  get settled() {
    return !["open", "running"].includes(this.row?.state);
  }

  // others counts the further proposals of the chain.
  get others() {
    return this.store.rows.filter((r) => r.type === "proposal" && r !== this.row).length;
  }

  // story is what happened, as words and as {person: id}.
  story() {
    const { row } = this;
    if (!row) return this.talk();
    const e = this.byID.get(row.id);
    const what = String(e.payload?.params?.name ?? e.payload?.params?.uri ?? e.payload?.method ?? e.kind);
    const to = (e.to ?? []).slice(0, 3).map((id) => ({ person: id }));
    const words = [{ person: e.from }, row.type === "proposal" ? " proposed " : " called ", { code: what }];
    if (to.length) words.push(row.type === "proposal" ? " to " : " at ", ...separated(to));
    if (row.type === "call") words.push(", without a proposal");
    words.push(...this.decided(row, e), ...this.answered(row, e));
    return [...words, "."];
  }

  decided(row, e) {
    if (row.type !== "proposal") return [];
    const end = this.byID.get(row.closedBy);
    const later = end ? { lasted: Date.parse(end.ts) - Date.parse(e.ts) } : "";
    const who = { person: row.by ?? "" };
    switch (row.state) {
      case "open":
        return ["; nobody has decided on it yet"];
      case "rejected":
        return ["; ", who, " rejected it ", later, " later", ...(row.answer ? [": ", { quote: row.answer }] : [])];
      case "withdrawn":
        return ["; ", who, " withdrew it ", later, " later"];
      case "expired":
        return ["; nobody decided on it, and it expired ", later, " later"];
      default:
        return ["; ", who, row.amended ? " approved it with changes " : " approved it ", later, " later"];
    }
  }

  answered(row, e) {
    const answer = this.byID.get(row.answerID);
    const asked = this.byID.get(row.closedBy) ?? e;
    if (row.state === "running") return [";", ...separated((asked.to ?? []).slice(0, 3).map((id) => ({ person: id }))).flatMap((p) => [" ", p]), " has not answered yet"];
    if (!answer) return [];
    return ["; ", { person: answer.from }, row.state === "failed" ? " answered with an error in " : " answered in ", { lasted: Date.parse(answer.ts) - Date.parse(asked.ts) }];
  }

  // talk is the story of a chain in which nothing was done.
  talk() {
    const people = [...new Set([...this.byID.values()].map((e) => e.from))];
    const n = this.byID.size;
    return [`${n.toLocaleString("en")} ${n === 1 ? "message" : "messages"} of `, ...separated(people.slice(0, 4).map((id) => ({ person: id }))), people.length > 4 ? ` and ${people.length - 4} more` : "", "; nothing was called."];
  }

  // thought is what was said in the contexts of the chain before the action.
  thought() {
    const { row } = this;
    const before = [...this.byID.values()].filter((e) => contextOf(e) && !e.kind.startsWith("mcp/") && (!row || e.seq < row.seq));
    const concluded = before.filter((e) => e.kind === "conclusion");
    const last = concluded.findLast((e) => !sumsUp(e)) ?? concluded.at(-1);
    return { n: before.length, contexts: [...new Set(before.map(contextOf))], who: [...new Set(before.map((e) => e.from))], conclusion: last };
  }
}

const answers = (e) => [].concat(e?.correlation_id ?? []);

export const contextOf = (e) => (typeof e.context === "string" ? e.context : (e.context?.id ?? ""));

// sumsUp tells what a model made of a context from what somebody decided in it.
const sumsUp = (e) => e.context?.metadata?.summary_of === contextOf(e);

const separated = (list) => list.flatMap((one, i) => (i ? [", ", one] : [one]));
