// A proposal on its way to a decision: what would run, byte for byte, who wants
// it and why, what was decided before, and what one can do about it.
import { html, live, nothing } from "../vendor/lit-3.3.3.js";
import * as api from "../base/api.js";
import { Amendment } from "./amendment.js";
import { DiffView } from "./diff_view.js";
import { earlier } from "./earlier.js";
import { forbids, judged, mayNot } from "./judged.js";
import { pathText } from "../base/json_text.js";
import { at, indent, members } from "../base/raw.js";
import { badge, person } from "../base/row.js";
import { ago, byteLength, clip, clock, oneLine, size, stamp, visible } from "../base/text.js";

const mostShown = 200_000; // characters of arguments at once
const mostTitle = 160; // characters of a tool's name
const hearing = 250; // milliseconds: one look at a tool that changes again and again
const mostUnfolded = 2000; // characters of params that stand open below the arguments
export const reasons = ["disagree", "unsafe", "policy", "invalid", "duplicate", "busy", "incapable", "other"];

export class Decision {
  constructor(app, id) {
    Object.assign(this, { app, id, busy: false, all: false, to: "", blocks: {} });
    this.requestID = api.newID(); // the same for each try: it is sent once
    this.load();
  }

  async load() {
    const { app, id } = this;
    try {
      this.text = await api.proposal(app.address.space, id);
      this.info = JSON.parse(this.text);
      this.params = at(this.text, "payload", "params");
      const [to] = this.info.to ?? [];
      this.to = this.info.to?.length === 1 ? to : "";
    } catch (problem) {
      this.problem = problem;
    }
    app.changed();
    await Promise.all([this.loadContext(), this.loadTool(), this.loadEarlier(), this.judge()]);
    app.changed();
  }

  // recheck asks the gateway again where the queue does not hold it any more, and
  // the stream, which may have begun later, does not know of it; and what we may do,
  // where that changed while we looked elsewhere.
  async recheck() {
    const { queue, address, store } = this.app;
    if (this.judgedAs !== store.me) this.lookAgain();
    if (!queue.answers || this.info?.state !== "open" || this.row || this.checked === queue.answers || queue.items.some((p) => p.id === this.id)) return;
    this.checked = queue.answers;
    try {
      this.info = { ...this.info, ...JSON.parse(await api.proposal(address.space, this.id)) };
      this.app.changed();
    } catch {
      // The next answer of the queue has it asked again.
    }
  }

  async loadEarlier() {
    if (!this.info) return;
    const { to } = this;
    try {
      const found = await earlier(this.app.address.space, this.info, this.text, to);
      if (to === this.to) this.earlier = found;
    } catch (problem) {
      this.earlierProblem = problem;
    }
  }

  // loadSent looks up what was sent instead.
  async loadSent() {
    if (this.sent !== undefined || !this.closedBy) return;
    this.sent = "";
    try {
      const params = at(await api.envelope(this.app.address.space, this.closedBy), "payload", "params");
      this.sent = new DiffView(indent(this.params ?? "null"), indent(params ?? "null"));
    } catch {
      return; // it was redacted, or is no longer kept
    }
    this.app.changed();
  }

  async loadContext() {
    const context = this.info?.context?.id ?? this.row?.context;
    if (!context) return;
    this.context = context;
    try {
      this.beside = (await api.before(this.app.address.space, context, this.info.seq)).items.reverse();
    } catch (problem) {
      this.besideProblem = problem;
    }
  }

  // hear is told of each envelope, and looks again where the tool may be another now, or
  // where we may do more or less: a welcome tells of that as well.
  hear(e) {
    const { kind, payload } = e;
    const about = (kind === "system/notice" && ["tools_seen", "tools_changed"].includes(payload?.event)) || kind === "space/accept-tool";
    if (kind === "system/welcome" || (about && payload?.participant === this.to)) this.lookAgain();
  }

  lookAgain() {
    if (!this.open || this.own) return;
    this.looking ??= setTimeout(async () => {
      this.looking = undefined; // what is heard from now on is looked at once more
      await Promise.all([this.loadTool(), this.judge()]);
      this.app.changed();
    }, hearing);
  }

  // judge asks the gateway what it would say to each thing that one can do, and whether
  // the call as proposed fits the proposal still: a tool that changed and changed back
  // does. Whoever has a link instead of a session cannot ask.
  async judge() {
    const { app, info, to, text, params, draft } = this;
    if (!app.session || !info || !this.open || this.own) return;
    const asked = (this.asked = {});
    this.judgedAs = app.store.me;
    const answers = await judged({ space: app.address.space, me: app.me, info, method: at(text, "payload", "method"), params, to, draft: to && draft?.(to) });
    if (asked !== this.asked) return; // it was asked anew meanwhile
    this.answers = answers;
    if (answers.approve) this.stale = answers.approve.refusal?.error === "proposal_mismatch";
    app.changed();
  }

  // refused reports whether one may not approve, amend or reject it, or send what was
  // amended, as far as the gateway has said.
  refused(act) {
    return this.open && forbids(this.answers?.[act]);
  }

  // mayNot says so, with the reason.
  mayNot(acts, id = "may-not") {
    return this.open && !this.own ? mayNot(this.answers, acts, id) : nothing;
  }

  // drafted is told of what makes an amended call as it would be sent to somebody, and of
  // none any more.
  drafted(draft) {
    this.draft = draft;
    if (this.answers) this.answers.send = undefined;
    if (draft) this.judge();
  }

  // loadTool looks up what the tool says of itself, and whether it changed since
  // somebody accepted that.
  async loadTool() {
    const { space } = this.app.address;
    const asked = (this.toolAsked = {});
    if (this.info?.payload?.method !== "tools/call" || !this.to) return;
    try {
      const { items } = await api.tools(space, this.to);
      const tool = items.find((t) => t.tool === this.info.payload.params?.name);
      const notice = tool?.notice && (await api.at(space, tool.notice)).items[0];
      if (asked !== this.toolAsked) return; // it was asked anew meanwhile, or somebody else was chosen
      this.tool = tool;
      this.definition = notice?.payload?.tools?.find((t) => t.name === tool.tool)?.definition;
    } catch {
      if (asked === this.toolAsked) this.tool = this.definition = undefined; // without it the page says so
    }
  }

  get row() {
    const row = this.app.store.byID.get(this.id);
    return row?.type === "proposal" ? row : undefined;
  }

  // state is the newer of what the stream and the gateway's answer say.
  get state() {
    const row = this.row;
    if (row && row.state !== "open") return row.state;
    return this.info?.state ?? "open";
  }

  // amended reports whether another call was made of it.
  get amended() {
    return this.row?.amended === true || this.info?.state === "amended";
  }

  get closedBy() {
    return this.row?.closedBy ?? this.info?.closed?.id;
  }

  get open() {
    return this.info && this.state === "open";
  }

  // gone reports whether retention has dropped what it asks for.
  get gone() {
    return this.info !== undefined && this.info.payload === undefined;
  }

  // onlyNo reports whether all that can be done is to reject it.
  get onlyNo() {
    return this.stale || this.gone;
  }

  // decidable reports whether the call can still be made, as proposed or amended.
  get decidable() {
    return this.open && !this.onlyNo;
  }

  // own reports whether it is ours to wait for, and not ours to decide.
  get own() {
    return this.info?.from === this.app.me;
  }

  // amendable reports whether its arguments can be edited, or were.
  get amendable() {
    return !this.own && this.info?.payload !== undefined && (this.decidable || this.begun);
  }

  ownNote() {
    return html`<p class="warning" role="note">This proposal is yours: somebody else decides on it.</p>`;
  }

  get title() {
    const { method, params } = this.info?.payload ?? {};
    return params?.name ?? params?.uri ?? method ?? this.info?.kind ?? "";
  }

  approve() {
    return this.decide(() => api.fulfil(this.app.address.space, this.id, { id: this.requestID, ...(this.info.to?.length === 1 ? {} : { to: this.to }) }));
  }

  // amendment is the call as one would rather have it: a text that is being edited.
  amendment() {
    const { app, info, text } = this;
    return new Amendment({ me: app.me, space: app.address.space, info, text, limits: app.store.space?.limits });
  }

  // begun reports whether an amendment was begun, and not sent.
  get begun() {
    return Amendment.begun({ me: this.app.me, space: this.app.address.space, id: this.id });
  }

  amend(amendment) {
    return this.decide(async () => {
      const text = amendment.envelope({ id: this.requestID, to: this.to });
      try {
        await api.send(this.app.address.space, text);
      } catch (problem) {
        if (problem.code !== "duplicate_id") throw problem;
        if (problem.problem.seq === undefined) return; // an earlier try came through that was another
      }
      amendment.done();
    });
  }

  reject(reason, message) {
    return this.decide(() => api.reject(this.app.address.space, this.id, { id: this.requestID, reason, ...(message ? { message } : {}) }));
  }

  // decide reports whether it is on record. An answer that was lost is asked for
  // again under the same id, and so counts once.
  async decide(send) {
    if (this.busy || !this.open) return false;
    this.busy = true;
    this.problem = undefined;
    this.app.changed();
    try {
      await send();
      return true;
    } catch (problem) {
      if (problem.code === "duplicate_id") return true;
      this.problem = problem;
      if (problem.code === "proposal_mismatch") this.lookAgain();
      return false;
    } finally {
      this.busy = false;
      this.app.changed();
    }
  }

  // heading and what stands above the arguments is bounded, so that no proposer can
  // push the arguments out of sight.
  heading() {
    return html`<span>${visible(clip(String(this.title), mostTitle))}</span>`;
  }

  // outcome says what became of it, once it is decided, and by whom.
  outcome() {
    this.recheck();
    if (!this.info || this.open) return nothing;
    const row = this.row;
    const by = row?.by ?? this.info.closed?.by;
    const when = this.info.closed?.at;
    const why = row?.answer ?? this.info.closed?.reason;
    if (this.amended) this.loadSent();
    return html`<p class="outcome" role="status">${mark(this.state)}
      <strong>${decided(this.state, this.amended)}</strong>${by && this.state !== "expired" ? html` by ${person(by)}` : nothing}${when ? html` <span class="quiet">at ${clock(when)}</span>` : nothing}${why ? html` <bdi class="code">${oneLine(clip(why, 400))}</bdi>` : nothing}
      ${this.app.go ? html`<button class="plain chain" @click=${() => (this.app.dialog?.close(), this.app.go({ page: "search", id: this.id }))}>Show the chain</button>` : nothing}</p>`;
  }

  // sentInstead is the call that an amendment made of it.
  sentInstead() {
    if (!this.amended || !this.sent) return nothing;
    return html`<section><h3>What was sent instead <span class="quiet">${this.sent.summary}</span></h3>${this.sent.view()}</section>`;
  }

  trouble() {
    if (!this.problem || (this.info && !this.open)) return nothing; // the outcome says more
    if (this.stale && this.problem.code === "proposal_mismatch") return nothing; // and so does the note
    return html`<p class="problem" role="alert">${visible(this.problem.message)} ${this.problem.hint ? html`<span class="quiet">${visible(this.problem.hint)}</span>` : nothing}</p>`;
  }

  facts() {
    const { info } = this;
    return html`<dl class="facts">
      <dt>Proposed by</dt><dd>${person(info.from)}</dd>
      <dt>Runs at</dt><dd>${this.target()}</dd>
      <dt>Asks for</dt><dd class="code"><bdi>${visible(clip(String(info.payload?.method ?? ""), mostTitle))} ${visible(clip(String(this.title), mostTitle))}</bdi></dd>
      <dt>Opened</dt><dd>${stamp(info.opened)} <span class="quiet">${ago(info.opened, Date.now())}</span>${info.expires ? html` · expires ${stamp(info.expires)} <span class="quiet">${ago(info.expires, Date.now())}</span>` : nothing}</dd>
      <dt>Id</dt><dd class="code"><bdi>${visible(this.id)}</bdi></dd>
    </dl>`;
  }

  target() {
    const { to = [] } = this.info;
    if (to.length === 1) return person(to[0]);
    const choices = to.length ? to : [...this.app.store.people.keys()].filter((id) => id !== this.info.from).slice(0, 200);
    if (!this.open) return to.map(person);
    return html`<label><span class="sr">Whom to ask</span><select name="to" .value=${live(this.to)} @change=${(e) => this.choose(e.target.value)}>
      <option value="">choose whom to ask…</option>${choices.map((id) => html`<option value=${id}>${visible(id)}</option>`)}</select></label>`;
  }

  // choose takes whom to ask, where that was left open.
  async choose(to) {
    this.to = to;
    this.tool = this.definition = this.stale = this.earlier = this.answers = undefined;
    this.app.changed();
    await Promise.all([this.loadTool(), this.loadEarlier(), this.judge()]);
    this.app.changed();
  }

  // laidOut is what would be sent, made ready once: it may be large, and a page is
  // drawn often.
  get laidOut() {
    if (this.made?.params === this.params) return this.made;
    const params = this.params ?? "null";
    const given = at(params, "arguments");
    const rest = given === undefined ? "" : beside(params);
    return (this.made = { params: this.params, pretty: indent(given ?? params), rest: indent(rest), bytes: params, size: size(byteLength(params)) });
  }

  // call is what would be sent: laid out to be read, and as it is.
  call() {
    if (this.gone) return html`<p class="warning" id="gone" role="note">What it asks for is no longer on record.${this.open ? " It can only be rejected." : nothing}</p>`;
    const { pretty, rest, bytes, size } = this.laidOut;
    return html`
      <section class="call">
        <h3>Arguments</h3>
        ${this.block("pretty", pretty, true)}
        ${rest ? html`<h3>Beside the arguments</h3>${this.block("rest", rest, true)}` : nothing}
        <details class="exact" ?open=${bytes.length <= mostUnfolded}>
          <summary>Exactly as it ${this.decidable ? "will be sent" : "was proposed"} <span class="quiet">params, ${size}</span></summary>
          ${this.block("bytes", bytes)}
        </details>
      </section>`;
  }

  // block shows a text, with a mark at its end where one has to have got there.
  block(name, text, marked = false) {
    const cut = !this.all && text.length > mostShown;
    const last = this.blocks[name];
    const shown = last?.text === text && last.cut === cut ? last.shown : visible(cut ? text.slice(0, mostShown) : text);
    this.blocks[name] = { text, cut, shown };
    return html`<pre class="block ${name}" tabindex="0"><code>${shown}${marked ? html`<span class="until-here ${cut ? "cut" : ""}"></span>` : nothing}</code></pre>
      ${cut ? html`<p class="warning">Only the first ${size(mostShown)} of ${size(text.length)} are shown. <button class="plain" @click=${() => ((this.all = true), this.app.changed())}>Show all</button></p>` : nothing}`;
  }

  given() {
    const { reason } = this.info.payload ?? {};
    if (!reason) return nothing;
    return html`
      <section>
        <h3>The reason that ${person(this.info.from)} gives</h3>
        <blockquote><bdi>${visible(clip(String(reason), 4000))}</bdi></blockquote>
      </section>`;
  }

  // changedNote stands above the arguments: what was accepted is not what would run.
  changedNote() {
    if (this.open && this.stale) return this.staleNote();
    if (!this.tool?.changed || this.tool.accepted) return nothing;
    return html`<p class="warning bounded" role="note"><strong>The tool's definition has changed since it was accepted.</strong> <bdi>${visible(clip(String(this.tool.changed), 1000))}</bdi></p>`;
  }

  // staleNote says that the proposal can only be rejected.
  staleNote() {
    return html`<p class="warning bounded" id="stale" role="alert"><strong>The tool’s definition has changed since this was proposed.</strong> It can no longer be approved or amended: reject it, and have it proposed again where it is still wanted.${this.tool?.changed ? html` <bdi>${visible(clip(String(this.tool.changed), 1000))}</bdi>` : nothing}</p>`;
  }

  toolNote() {
    if (this.info.payload?.method !== "tools/call") return nothing;
    const says = this.definition?.description;
    return html`
      <section>
        <h3>What the tool says it does</h3>
        ${says ? html`<blockquote><bdi>${visible(clip(String(says), 4000))}</bdi></blockquote>` : html`<p class="quiet">Its definition is not on record.</p>`}
      </section>`;
  }

  // earlierNote is told above the arguments: somebody said no to the same before.
  earlierNote() {
    const last = this.earlier?.find((e) => e.differences?.length === 0 && ["rejected", "fulfilled"].includes(e.state));
    if (last?.state !== "rejected") return nothing;
    return html`<p class="warning bounded" role="note"><strong>The same call was rejected before</strong>, by ${person(last.by)} ${ago(last.when, Date.now())}: ${reasonOf(last)}</p>`;
  }

  // earlierDecisions are the newest on calls alike, for comparison. open shows one.
  earlierDecisions(open) {
    if (this.earlierProblem) return html`<section><h3>Earlier decisions</h3><p class="problem">${visible(this.earlierProblem.message)}</p></section>`;
    if (!this.earlier) return nothing;
    return html`
      <section class="earlier">
        <h3>Earlier decisions on <bdi>${visible(clip(String(this.title), mostTitle))}</bdi>${this.to ? html` at ${person(this.to)}` : nothing}</h3>
        ${this.earlier.length ? nothing : html`<p class="quiet">None that the gateway remembers.</p>`}
        <ul>${this.earlier.map((e) => html`
          <li>
            <p>${mark(e.state)} ${e.by && e.state !== "expired" ? html`by ${person(e.by)} ` : nothing}<span class="quiet">${ago(e.when, Date.now())}, proposed by</span> ${person(e.from)}
              <a href="?${new URLSearchParams({ space: this.app.address.space, page: "approvals", proposal: e.id })}" @click=${(event) => open(event, e.id)}>open<span class="sr"> this decision</span></a></p>
            ${e.reason ? html`<p class="code">${reasonOf(e)}</p>` : nothing}
            ${differing(e.differences)}
          </li>`)}</ul>
      </section>`;
  }

  reasoning() {
    if (!this.context) return nothing;
    return html`
      <section>
        <h3>What led to it <bdi class="thread">${visible(this.context)}</bdi></h3>
        ${this.besideProblem ? html`<p class="problem">${visible(this.besideProblem.message)}</p>` : nothing}
        <ol class="beside">${(this.beside ?? []).map((e) => html`<li>${person(e.from)} <span class="quiet">${visible(e.kind)}</span> <bdi>${oneLine(clip(spoken(e.payload), 1000))}</bdi></li>`)}</ol>
        ${this.beside?.length === 0 ? html`<p class="quiet">Nothing was said in it before.</p>` : nothing}
      </section>`;
  }

  // rejectForm asks for the reason. done is called when it is on record.
  rejectForm(done, cancel) {
    const submit = async (e) => {
      e.preventDefault();
      if (this.refused("reject")) return;
      const { reason, message } = e.target.elements;
      if (await this.reject(reason.value, message.value.trim())) done();
    };
    return html`
      <form class="reject" @submit=${submit}>
        <label>Reason <select name="reason">${reasons.map((r) => html`<option>${r}</option>`)}</select></label>
        <label class="grow"><span>In words <span class="quiet">(optional, on record)</span></span><input name="message" autocomplete="off" maxlength="2000" autofocus></label>
        <div class="buttons">
          <button type="submit" class="danger" ?disabled=${this.busy || !this.open} aria-disabled=${this.refused("reject") ? "true" : nothing} aria-describedby=${this.refused("reject") ? "may-not-here" : nothing}>Reject</button>
          <button type="button" @click=${cancel}>Back</button>
        </div>
      </form>`;
  }
}

// beside is what params hold that is shown nowhere else: neither the arguments nor a
// name that stands above them whole.
function beside(params) {
  const shown = (name, value) => name === "arguments" || (name === "name" && value.length < mostTitle);
  const rest = members(params).filter(([name, value]) => !shown(name, value));
  return rest.length ? `{${rest.map(([, value, spelled]) => `${spelled}:${value}`).join(",")}}` : "";
}

// mark is how a proposal ended, or what became of the call since.
function mark(state) {
  const words = { fulfilled: "approved", amended: "amended" };
  return words[state] ? html`<span class="badge good">${words[state]}</span>` : badge(state);
}

function decided(state, amended) {
  const words = { rejected: "Rejected", withdrawn: "Withdrawn", expired: "Expired: nobody decided in time" };
  return words[state] ?? (amended ? "Approved with changes" : "Approved");
}

const reasonOf = ({ reason, message }) => html`<bdi>${oneLine(clip([reason, message].filter(Boolean).join(": "), 400))}</bdi>`;

// differing says where an earlier call was another.
function differing(found) {
  if (!found) return html`<p class="quiet">What it asked for is no longer on record.</p>`;
  if (!found.length) return html`<p class="same">The same arguments.</p>`;
  const value = (text) => (text === undefined ? html`<span class="quiet">nothing</span>` : html`<bdi class="code">${oneLine(clip(text, 120))}</bdi>`);
  return html`<dl class="differing">${found.slice(0, 3).map(({ path, a, b }) => html`<dt class="code"><bdi>${oneLine(clip(pathText(path) || "all", 120))}</bdi></dt><dd><span class="quiet">was</span> ${value(a)}<span class="quiet">, is</span> ${value(b)}</dd>`)}</dl>
    ${found.length > 3 ? html`<p class="quiet">and more</p>` : nothing}`;
}

function spoken(payload) {
  for (const name of ["text", "thought", "decision", "message", "summary"]) {
    if (typeof payload?.[name] === "string") return payload[name];
  }
  return JSON.stringify(payload) ?? "";
}
