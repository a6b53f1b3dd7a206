// The page of an approval link: one proposal, one decider, one decision. It has no
// session, and its code opens nothing else.
import { html, nothing, render } from "./vendor/lit-3.3.3.js";
import * as api from "./base/api.js";
import { Decision } from "./approvals/decision.js";
import { DecideDialog } from "./approvals/dialog_decide.js";
import { skeleton } from "./base/lookalikes.js";
import * as people from "./base/names.js";
import { at } from "./base/raw.js";
import { badge, person } from "./base/row.js";
import { applyTheme } from "./base/settings.js";
import { clip, clock, oneLine, sentence, visible } from "./base/text.js";

const lookAgain = 20_000; // milliseconds after which it is asked whether somebody else decided
const lookSoon = 500; // doubled each time that it is asked what came of the call

// LinkDecision is a decision that a link's code is asked for, and sent with.
class LinkDecision extends Decision {
  constructor(app, code) {
    super(app, "");
    this.code = code;
  }

  // load looks the proposal up, again where somebody may have decided meanwhile.
  async load() {
    await undefined; // the code is set once the constructor is through
    const { app } = this;
    try {
      this.take(await api.linked(this.body()));
    } catch (problem) {
      if (problem.status !== 0 || !this.info) this.problem = problem; // what is shown stays true without a network
    }
    this.follow();
    app.changed();
  }

  take(text) {
    const link = JSON.parse(text);
    const { app } = this;
    this.link = link;
    this.text = at(text, "proposal");
    this.info = link.proposal;
    this.id = this.info.id;
    this.params = at(this.text, "payload", "params");
    if (this.info.to?.length === 1) [this.to] = this.info.to;
    app.address.space = link.space;
    app.me = link.decider;
    app.store.people = new Map((link.candidates ?? []).map((id) => [id]));
    this.tool = link.tool;
    this.definition = link.tool?.definition;
    this.context = link.context?.id;
    this.beside = link.context?.items;
    this.meet();
  }

  // meet learns who is known in the room, and who spoke, so that names are marked as in
  // the console.
  meet() {
    const { link, info, beside = [] } = this;
    people.begin(() => link.decider);
    for (const id of [...(link.participants ?? []), info.from, ...(info.to ?? []), ...beside.map((e) => e.from)]) people.learn(id);
    const name = skeleton(String(this.title));
    this.like = link.tools?.find((tool) => tool !== this.title && skeleton(tool) === name);
  }

  // changedNote tells of a tool's name that could be taken for another's as well.
  changedNote() {
    return html`${this.open && this.like !== undefined ? html`<p class="warning bounded" id="tool-looks" role="note"><strong>The tool’s name looks like <bdi>${visible(clip(this.like, 160))}</bdi>, which is another tool.</strong></p>` : nothing} ${super.changedNote()}`;
  }

  body(more) {
    return { code: this.code, ...(this.to && this.info?.to?.length !== 1 ? { to: this.to } : {}), ...more };
  }

  // loadTool is called when somebody chose whom to ask.
  loadTool() {
    return this.load();
  }

  // What else is known of the room takes a session to ask for.
  async loadEarlier() {}
  async loadSent() {}
  async recheck() {}

  approve() {
    return this.decideAs("approved", () => api.fulfilLinked(this.body()));
  }

  reject(reason, message) {
    return this.decideAs("rejected", () => api.rejectLinked({ code: this.code, reason, ...(message ? { message } : {}) }));
  }

  async decideAs(verdict, send) {
    const done = await this.decide(async () => {
      this.receipt = JSON.parse(await send());
    });
    if (done) {
      this.verdict = verdict;
      if (verdict === "approved") this.follow();
    } else if (this.problem?.code === "proposal_mismatch") this.stale = true; // for it was sent as proposed
    else if (this.problem?.code === "proposal_closed") await this.load(); // and say who was first
    this.app.changed();
    return done || this.over;
  }

  // follow has it asked again what came of the call, until that is known.
  follow() {
    if (this.over ? this.came !== "running" : this.verdict !== "approved") return;
    this.pause = Math.min(2 * (this.pause ?? lookSoon), lookAgain);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      if (this.app.decision !== this) return; // another link was opened
      if (document.visibilityState === "visible") this.load();
      else this.follow();
    }, this.pause);
  }

  // came is what came of the call that the link made, in a word.
  get came() {
    return this.problem?.problem?.outcome;
  }

  // over says that the link works no more.
  get over() {
    return this.problem?.problem?.link !== undefined;
  }

  get settled() {
    return this.verdict !== undefined || this.over || (this.info && !this.open);
  }
}

class Page {
  constructor() {
    this.root = document.getElementById("app");
    this.address = { space: "" };
    this.store = { byID: new Map(), people: new Map() };
    this.changed = () => this.draw();
    addEventListener("hashchange", () => this.open());
    document.addEventListener("visibilitychange", () => this.look());
    setInterval(() => this.look(), lookAgain);
    this.open();
  }

  // open takes the code out of the address bar, where it would stay in the
  // browser's history. The tab keeps it, so that the page can be loaded again.
  open() {
    const code = new URLSearchParams(location.hash.slice(1)).get("code") ?? kept();
    history.replaceState(null, "", location.pathname);
    if (!code) return this.draw();
    keep(code);
    this.dialog = undefined;
    this.decision = new LinkDecision(this, code);
    this.draw();
  }

  // look asks whether the proposal is still open.
  look() {
    const d = this.decision;
    if (document.visibilityState === "visible" && d?.info && !d.settled && !d.busy) d.load();
  }

  ask(mode) {
    this.dialog = new DecideDialog(this, this.decision, mode);
    this.draw();
  }

  closeDialog(dialog) {
    if (this.dialog !== dialog) return;
    this.dialog = undefined;
    this.draw();
  }

  draw() {
    if (this.decision?.settled) this.dialog = undefined;
    document.title = `${this.title()} · Parley`;
    render(this.view(), this.root);
  }

  title() {
    const d = this.decision;
    if (!d?.info) return "A decision";
    return oneLine(clip(String(d.title), 60));
  }

  view() {
    const d = this.decision;
    if (!d) return ending("This is not a whole link", html`<p>What follows <code>#code=</code> is missing. Open the link as it was sent to you.</p>`);
    if (d.verdict) return this.decided(d);
    if (d.over) return ended(d);
    if (!d.info) return d.problem ? ending("The proposal cannot be shown", html`${d.trouble()}<button @click=${() => this.again()}>Try again</button>`) : html`<main class="deciding"><p class="quiet" role="status">Loading…</p></main>`;
    return html`${this.proposal(d)} ${d.open && !d.own ? this.buttons(d) : nothing} ${this.dialog?.view() ?? nothing}`;
  }

  again() {
    this.decision.problem = undefined;
    this.decision.load();
  }

  proposal(d) {
    return html`
      <main class="deciding">
        <header>
          <p class="brand"><img src="/console/icon.svg" alt="" width="20" height="20"> Parley <span>·</span> <bdi>${visible(d.link.space)}</bdi></p>
          <h1>${d.open ? "A proposal waits for you" : "This proposal is decided"}</h1>
          <p class="quiet">${d.open ? "You decide as" : "The link is for"} ${person(d.link.decider)}. ${d.open ? html`The link works once, until ${clock(d.link.expires)} on ${new Date(d.link.expires).toLocaleDateString()}.` : nothing}</p>
        </header>
        <h2>${d.heading()}</h2>
        ${d.outcome()} ${this.dialog ? nothing : d.trouble()} ${d.open && d.own ? d.ownNote() : nothing}
        ${d.facts()} ${d.changedNote()}
        ${d.call()}
        ${d.given()} ${d.toolNote()} ${d.reasoning()}
      </main>`;
  }

  buttons(d) {
    return html`
      <footer class="verdict"><div class="buttons">
        ${d.onlyNo ? nothing : html`<button class="primary" id="approve" @click=${() => this.ask("approve")}>Approve…</button>`}
        <button class="danger" id="reject" @click=${() => this.ask("reject")}>Reject…</button>
      </div></footer>`;
  }

  decided(d) {
    const call = html`<strong><bdi>${visible(clip(String(d.title), 160))}</bdi></strong>`;
    return ending(
      d.verdict === "approved" ? "Approved" : "Rejected",
      html`<p role="status">${d.verdict === "approved" ? html`The call of ${call} was sent in the name of ${person(d.link.decider)}.` : html`${call} will not be called. ${person(d.info.from)} is told why.`}</p>
        ${d.verdict === "approved" ? came(d.came ?? (d.over ? undefined : "running")) : nothing}
        <p class="quiet">It is on record as #${d.receipt.seq}. The link is used up; this page can be closed.</p>`,
    );
  }
}

const titles = {
  used: "This link was used already",
  expired: "This link has expired",
  signed_out: "This link works no more",
  withdrawn: "This link works no more",
  crowded: "A newer link has taken the place of this one",
  unknown: "This link is not known",
};

// ended says why a link works no more, who decided, and what came of that.
function ended({ problem: { message, problem }, came: word }) {
  return ending(
    titles[problem.link] ?? "This link works no more",
    problem.link === "used" && problem.closed ? html`${fate(problem)}${problem.verdict === "fulfil" ? came(word) : nothing}` : html`<p>${visible(sentence(message))}</p>${fate(problem)}`,
  );
}

const outcomes = {
  running: "There is no answer to the call yet.",
  done: "The call was answered. The result is in the room.",
  failed: "The call failed. Why is told in the room.",
  unknown: "Nobody can tell whether the call was carried out. The room knows more.",
  input_required: "The server asks for more before it goes on. That is answered in the room.",
};

// came tells what came of a call. The link says no more of it: it may be anybody's by now.
function came(word) {
  return html`<p class="came" role="status">${outcomes[word] ? html`${["running", "done", "failed"].includes(word) ? html`${badge(word)} ` : nothing}${outcomes[word]}` : "What comes of it is told in the room."}</p>`;
}

const words = { fulfilled: "approved", amended: "approved with changes" };

function fate({ state, closed }) {
  if (state === "open") return html`<p>The proposal still waits for a decision.</p>`;
  if (!closed) return nothing;
  if (state === "expired") return html`<p>Nobody decided on the proposal in time.</p>`;
  return html`<p>The proposal was ${words[state] ?? state} by ${person(closed.by)} at ${clock(closed.at)} on ${new Date(closed.at).toLocaleDateString()}${closed.reason ? html`: <bdi>${oneLine(clip(closed.reason, 400))}</bdi>` : nothing}.</p>`;
}

function ending(title, body) {
  return html`<main class="deciding"><div class="end"><img src="/console/icon.svg" alt="" width="44" height="44"><h1>${title}</h1>${body}</div></main>`;
}

function kept() {
  try {
    return sessionStorage.getItem("parley.approval");
  } catch {
    return null;
  }
}

function keep(code) {
  try {
    sessionStorage.setItem("parley.approval", code);
  } catch {
    // Loading the page again needs the link again.
  }
}

applyTheme();
new Page();
