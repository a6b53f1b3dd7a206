// The approvals: the queue, oldest first, and beside it all of the one that is
// looked at.
import { html, keyed, live, nothing } from "../vendor/lit-3.3.3.js";
import { askedList } from "../forms/asked.js";
import { Decision } from "./decision.js";
import { BulkDialog } from "./dialog_bulk.js";
import { NotifyDialog } from "./dialog_notify.js";
import { badge, person } from "../base/row.js";
import { Selection } from "./selection.js";
import { ago, oneLine, visible } from "../base/text.js";

const mostListed = 500;
const redrawn = 15_000; // milliseconds, after which ages are told anew

export class ApprovalsPage {
  static name = "approvals";
  static label = "Approvals";
  static count = (app) => app.mine.length + app.asks.items.length;
  decides = true; // so that what waits need not be told above the page

  constructor(app) {
    this.app = app;
    this.chosen = new Selection();
  }

  commands() {
    const { app, decision, chosen } = this;
    const one = this.pivot;
    return [
      { label: "Approve…", keys: ["a"], act: () => app.decide(decision, "approve") },
      { label: "Reject, with a reason…", keys: ["r"], act: () => app.decide(decision, "reject") },
      { label: "Amend: change the arguments, and send it as yours…", keys: ["m"], act: () => app.decide(decision, "amend") },
      { label: "Next proposal", keys: ["j"], repeat: true, act: () => this.move(1) },
      { label: "Previous proposal", keys: ["k"], repeat: true, act: () => this.move(-1) },
      { label: "The oldest that still waits", keys: ["n"], act: () => this.next() },
      { label: "Choose it to reject several at once, or let it go", keys: ["x"], act: () => this.toggle(decision?.id) },
      { label: "Choose all between it and the last one chosen", keys: ["X"], act: () => this.toggle(decision?.id, true) },
      { label: "Reject all that are chosen…", keys: ["R"], act: () => this.rejectChosen() },
      ...(one ? [
        { label: `Choose all that ${visible(one.from)} proposes`, act: () => this.choose(this.from(one)) },
        { label: `Choose all alike: ${visible(one.title)}`, act: () => this.choose(this.alike(one)) },
      ] : []),
      ...(chosen.size ? [{ label: "Choose none", act: () => this.choose([]) }] : []),
      { label: "Notifications…", act: () => app.show(new NotifyDialog(app)) },
    ];
  }

  // queue is what is open; what is looked at stays until one looks elsewhere,
  // also when somebody decided it.
  get queue() {
    return this.app.queue.items;
  }

  // pivot is the proposal that "all alike" speaks of: what was chosen last, or is
  // looked at.
  get pivot() {
    const of = (id) => this.app.mine.find((p) => p.id === id);
    return (this.chosen.size ? of(this.chosen.last) : undefined) ?? of(this.decision?.id);
  }

  from(one) {
    return this.app.mine.filter((p) => p.from === one.from);
  }

  alike(one) {
    return this.app.mine.filter((p) => p.alike === one.alike);
  }

  update() {
    this.chosen.keep(this.app.mine);
    const wanted = this.app.address.proposal || this.queue[0]?.id;
    if (!wanted || this.decision?.id === wanted) return;
    if (!this.app.address.proposal && this.decision && !this.left) return;
    this.left = false;
    this.decision = new Decision(this.app, wanted);
  }

  // drawn keeps the one that is looked at in sight, and what is told of time true.
  drawn() {
    if (this.seen !== this.decision?.id) {
      this.seen = this.decision?.id;
      document.querySelector(".queue .current")?.scrollIntoView({ block: "nearest" });
    }
    this.timer ??= setInterval(() => !document.hidden && this.app.changed(), redrawn);
  }

  hidden() {
    clearInterval(this.timer);
    this.timer = this.seen = undefined;
  }

  stop() {
    this.hidden();
  }

  // select shows another one, at once: the next key is about that.
  select(id) {
    this.left = true;
    this.app.go({ proposal: id });
    this.update();
  }

  // look shows another proposal, decided or not.
  look(event, id) {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // in another tab
    event.preventDefault();
    this.select(id);
  }

  // next goes on to the oldest that is still open.
  next() {
    const next = this.queue.find((p) => p.id !== this.decision?.id)?.id ?? "";
    this.left = true;
    if (!next && !this.decision?.open) this.decision = undefined;
    this.app.go({ proposal: next });
    this.update();
  }

  move(by) {
    const ids = this.queue.map((p) => p.id);
    const at = ids.indexOf(this.decision?.id);
    const id = ids[Math.min(ids.length - 1, Math.max(0, at + by))];
    if (id) this.select(id);
  }

  toggle(id, range = false) {
    const { mine } = this.app;
    if (mine.some((p) => p.id === id)) this.chosen.toggle(mine, id, range);
    this.app.changed();
  }

  choose(list) {
    if (!list.length) this.chosen.clear();
    this.chosen.add(list);
    this.app.changed();
  }

  rejectChosen() {
    const items = this.chosen.of(this.app.mine);
    if (!items.length) return;
    this.app.show(new BulkDialog(this.app, items, (ids) => ids.forEach((id) => this.chosen.ids.delete(id))));
  }

  view() {
    const { queue, decision, app } = this;
    return html`
      <main class="approvals" id="main">
        <h1 class="sr">Approvals</h1>
        <section class="queue" aria-label="Waiting for a decision">
          ${askedList(app)}
          <header><h2>Waiting <span class="count">${queue.length.toLocaleString("en")}${app.queue.more ? "+" : ""}</span></h2>
            <button class="plain small" id="bell" @click=${() => app.show(new NotifyDialog(app))} >Notifications: ${app.notifier.on ? "on" : "off"}</button></header>
          ${this.chooser()}
          ${queue.length ? nothing : html`<p class="quiet">Nothing waits for a decision.</p>`}
          <ul>${queue.slice(0, mostListed).map((p) => this.card(p))}</ul>
          ${queue.length > mostListed || app.queue.more ? html`<p class="quiet">The oldest ${Math.min(queue.length, mostListed).toLocaleString("en")} are listed.</p>` : nothing}
        </section>
        <article class="detail" aria-label="Proposal">${decision ? keyed(decision.id, this.detail(decision)) : html`<div class="empty"><p>All is decided.</p><p class="quiet">What is proposed next appears here by itself.</p></div>`}</article>
      </main>`;
  }

  card(p) {
    const current = p.id === this.decision?.id;
    const own = p.from === this.app.me;
    return html`
      <li class=${this.chosen.has(p.id) ? "chosen" : ""}>
        <input type="checkbox" .checked=${live(this.chosen.has(p.id))} ?disabled=${own} aria-label="Choose ${visible(p.title)} by ${visible(p.from)}" @click=${(e) => this.toggle(p.id, e.shiftKey)}>
        <button class="card ${current ? "current" : ""}" aria-current=${current} @click=${(e) => (e.shiftKey ? this.toggle(p.id, true) : this.select(p.id))}>
          <strong><bdi>${visible(p.title)}</bdi></strong>
          <span>${person(p.from)} <span class="quiet">to</span> ${p.to.length ? p.to.slice(0, 3).map(person) : html`<span class="quiet">whoever can</span>`}</span>
          ${p.sample ? html`<span class="code"><bdi>${oneLine(p.sample)}</bdi></span>` : nothing}
          <span class="quiet small">${ago(p.opened, Date.now())}</span>
        </button></li>`;
  }

  // chooser says what is chosen, and what can be done with it.
  chooser() {
    const { size } = this.chosen;
    const one = this.pivot;
    if (!size || !one) return nothing;
    const [from, alike] = [this.from(one), this.alike(one)];
    return html`
      <div class="chooser" role="group" aria-label="What is chosen">
        <span role="status">${size.toLocaleString("en")} chosen</span>
        <button class="danger" id="reject-chosen" @click=${() => this.rejectChosen()}>Reject… <kbd>R</kbd></button>
        <button class="plain" id="choose-none" @click=${() => this.choose([])}>Choose none</button>
        ${from.length > 1 ? html`<button class="plain" id="choose-from" @click=${() => this.choose(from)}>All ${from.length.toLocaleString("en")} by ${person(one.from)}</button>` : nothing}
        ${alike.length > 1 ? html`<button class="plain" id="choose-alike" @click=${() => this.choose(alike)}>All ${alike.length.toLocaleString("en")} alike</button>` : nothing}
      </div>`;
  }

  detail(d) {
    if (!d.info) return d.problem ? d.trouble() : html`<p class="quiet">Loading…</p>`;
    return html`
      <header><h2>${d.heading()}</h2>${d.open ? badge("open") : nothing}</header>
      ${d.outcome()} ${d.trouble()}
      ${d.open && d.own ? d.ownNote() : d.open ? this.buttons(d) : html`<div class="buttons decide"><button id="next" @click=${() => this.next()}>${this.queue.length ? "Next" : "Done"} <kbd>n</kbd></button></div>`}
      ${d.begun ? html`<p class="warning" role="note">${d.open ? "You have changed its arguments, and not sent them." : "The arguments that you changed were not sent: it was decided before."} <button id="go-on" @click=${() => this.app.decide(d, "amend")}>${d.open ? "Go on amending…" : "Show your text"}</button></p>` : nothing}
      ${d.facts()} ${d.changedNote()} ${d.earlierNote()} ${d.sentInstead()} ${d.call()} ${d.given()} ${d.earlierDecisions((event, id) => this.look(event, id))} ${d.toolNote()} ${d.reasoning()}`;
  }

  buttons(d) {
    const not = (act) => !!d.refused(act);
    const why = (act) => (not(act) ? "may-not" : nothing);
    return html`
      <div class="buttons decide">
        ${d.onlyNo ? nothing : html`<button class="primary" id="approve" aria-disabled=${not("approve")} aria-describedby=${why("approve")} @click=${() => this.app.decide(d, "approve")}>Approve… <kbd>a</kbd></button>`}
        <button class="danger" id="reject" aria-disabled=${not("reject")} aria-describedby=${why("reject")} @click=${() => this.app.decide(d, "reject")}>Reject… <kbd>r</kbd></button>
        ${d.onlyNo ? nothing : html`<button id="amend" aria-disabled=${not("amend")} aria-describedby=${why("amend")} @click=${() => this.app.decide(d, "amend")}>Amend… <kbd>m</kbd></button>`}
      </div>
      ${d.mayNot(d.onlyNo ? ["reject"] : ["approve", "amend", "reject"])}`;
  }
}
