// The console: who is signed in, which room is shown, what stands in front of it, and
// the keys. Pages are drawn anew from what is known, at most once per frame.
import { render } from "./vendor/lit-3.3.3.js";
import { everything, readAddress, takeCode, writeAddress } from "./base/address.js";
import * as api from "./base/api.js";
import { Asks } from "./forms/asks.js";
import { commandOf } from "./shell/commands.js";
import { Connection } from "./base/connection.js";
import { Decision } from "./approvals/decision.js";
import { AmendDialog } from "./approvals/dialog_amend.js";
import { DecideDialog } from "./approvals/dialog_decide.js";
import { FormDialog } from "./forms/dialog_form.js";
import { RowDialog } from "./room/dialog_row.js";
import { Notifier, showWaiting } from "./approvals/notify.js";
import * as people from "./base/names.js";
import { pages } from "./shell/pages.js";
import { signInPage } from "./shell/page_signin.js";
import { Queue } from "./approvals/queue.js";
import { applyTheme, remember, setting, toggleTheme } from "./base/settings.js";
import { landing, shell } from "./shell/shell.js";
import { clip } from "./base/text.js";
import { Store } from "./room/store.js";
import { Verification } from "./record/verification.js";

class App {
  constructor(root) {
    this.root = root;
    this.address = readAddress();
    this.store = new Store();
    this.singleKeys = setting("keys", "on") !== "off";
    this.notice = "";
    addEventListener("popstate", () => this.moved());
    addEventListener("keydown", (e) => this.key(e));
    // A key that acted does nothing more to the field or the button that it led to.
    addEventListener("keypress", (e) => e.key === this.handled && e.preventDefault(), true);
    addEventListener("keyup", () => (this.handled = undefined), true);
    addEventListener("hashchange", () => this.link());
    this.begin();
  }

  // begin signs in by the link's code, or finds out who is signed in already.
  async begin() {
    const code = takeCode();
    if (code) return this.signIn({ code });
    try {
      this.enter(await api.whoAmI());
    } catch (problem) {
      this.signedOut(problem.status === 401 ? "" : problem.message);
    }
  }

  link() {
    const code = takeCode();
    if (code) this.signIn({ code });
  }

  async signIn(how) {
    this.busy = true;
    this.changed();
    try {
      this.enter(await api.signIn(how));
    } catch (problem) {
      const stale = how.code && problem.status === 401;
      this.signedOut(stale ? "That link was used before, or is too old. Make a new one with “parley token link”, or paste a token." : [problem.message, problem.hint].filter(Boolean).join(" "));
    }
    this.busy = false;
    this.changed();
  }

  signedOut(problem) {
    this.leave();
    this.session = undefined;
    this.store.reset();
    this.dialog = undefined;
    this.problem = problem;
    this.signInShown = true;
    this.changed();
  }

  enter(session) {
    this.session = session;
    this.problem = "";
    this.signInShown = false;
    this.settleSpace((session.spaces ?? []).map((s) => s.name));
    writeAddress(this.address);
    this.join();
  }

  // settleSpace takes the first of our spaces where the address names none of them.
  // What the address asked for beside it was of another space.
  settleSpace(spaces) {
    const { space: asked } = this.address;
    if (spaces.includes(asked)) return;
    const [space = ""] = spaces;
    Object.assign(this.address, asked ? everything : {}, { space });
    if (asked && space) this.notice = `You have no space called “${clip(asked, 100)}”. This is “${space}”.`;
  }

  leave() {
    this.connection?.stop();
    this.connection = undefined;
    this.queue?.stop();
    this.verification?.stop();
    this.notifier?.stop();
    this.asks?.stop();
    for (const page of this.pages ?? []) page.stop?.();
  }

  join() {
    this.leave();
    const store = (this.store = new Store());
    this.ended = "";
    this.queue = new Queue(this.address.space, store, { answered: () => this.notifier.heard(), changed: () => this.changed(), failed: (problem) => this.refused(problem) });
    this.notifier = new Notifier(this);
    this.asks = new Asks(this.address.space, { me: () => this.me, changed: () => this.changed(), failed: (problem) => this.refused(problem) });
    people.begin(() => this.me);
    this.meet();
    store.watch = (e) => (people.hear(e), this.asks.hear(e), this.decisions.forEach((d) => d.hear(e)));
    this.verification = new Verification(this);
    this.pages = pages.map((Page) => new Page(this));
    this.visited = {}; // what each page showed when it was left, by its name
    if (!this.address.space) return this.changed();
    this.connection = new Connection(this.address.space, store, {
      changed: () => this.received(),
      ended: (why) => (why === "signed out" ? this.signedOut("You were signed out.") : this.over(why)),
      lost: () => this.check(),
    });
    this.changed();
  }

  // meet learns who may come here, so that the names of those who are away count as well.
  async meet() {
    const { space } = this.address;
    if (!space) return;
    const { items } = await api.participants(space, { limit: 1000 }).catch(() => ({ items: [] })); // it is the marks alone that need them
    if (space !== this.address.space) return;
    for (const p of items) people.learn(p.id);
    this.changed();
  }

  over(why) {
    this.ended = why;
    this.changed();
  }

  // check finds out whether the connection fails because the session is over.
  async check() {
    try {
      await api.whoAmI();
    } catch (problem) {
      this.refused(problem);
    }
  }

  refused(problem) {
    if (problem.status === 401) this.signedOut("Your session has ended: sign in again.");
  }

  received() {
    if (!this.connection) return;
    this.queue.heard();
    this.changed();
  }

  // page is the one that is shown.
  get page() {
    return this.pages[Math.max(0, pages.findIndex((Page) => Page.name === this.address.page))];
  }

  // decisions are the proposals that are looked at.
  get decisions() {
    return new Set([this.dialog?.decision, this.page?.decision].filter(Boolean));
  }

  // go changes what is shown. Another page is a step that the browser can take
  // back; a filter is not. A page that one comes back to shows what it showed.
  go(change) {
    const here = this.page.constructor.name;
    if (change.page && change.page !== here) {
      this.visited[here] = { ...this.address };
      const { space, page, ...was } = (Object.keys(change).length === 1 && this.visited[change.page]) || {};
      change = { ...everything, ...was, ...change };
    }
    const push = ["page", "space", "proposal", "id", "view", "at"].some((name) => name in change && change[name] !== this.address[name]);
    const { page } = this;
    if (change.page) this.followed = undefined;
    const space = this.address.space;
    Object.assign(this.address, change);
    if (this.address.space !== space) Object.assign(this.address, everything);
    writeAddress(this.address, { push });
    if (this.address.space !== space) this.join();
    else if (this.page !== page) page.hidden?.();
    this.changed();
  }

  moved() {
    if (this.dialog) this.closeDialog(this.dialog); // it belongs to what was shown
    const space = this.address.space;
    this.address = readAddress();
    if (this.address.space !== space && this.session) this.enter(this.session);
    this.changed();
  }

  // open shows a row: a proposal that waits is decided there, and what is asked of us
  // answered.
  open(row) {
    const ask = this.asks.find(row.id);
    if (ask) return this.answer(ask);
    if (row.type === "proposal" && row.state === "open") this.review(row.id);
    else this.show(new RowDialog(this, row));
  }

  review(id) {
    this.show(new DecideDialog(this, new Decision(this, id), "review"));
  }

  answer(ask) {
    this.show(new FormDialog(this, ask));
  }

  // decide confirms what one is about to do with a proposal: approve, reject or amend
  // it. What was edited can be seen when it is too late, too.
  decide(decision, mode) {
    if (decision?.refused(mode) && !(mode === "amend" && decision.begun)) return document.getElementById(mode)?.focus(); // the button says why
    if (mode === "amend" ? decision?.amendable : (mode === "approve" ? decision?.decidable : decision?.open) && !decision.own) {
      this.show(mode === "amend" ? new AmendDialog(this, decision) : new DecideDialog(this, decision, mode));
    }
  }

  show(dialog) {
    if (!this.dialog) this.opener = document.activeElement;
    this.dialog = dialog;
    this.followed = undefined;
    this.changed();
  }

  closeDialog(dialog) {
    if (this.dialog !== dialog) return;
    clearTimeout(dialog.timer);
    this.dialog = undefined;
    document.querySelector("dialog")?.close(); // which gives the keyboard back
    this.lost = this.opener && this.opener !== document.body && !this.opener.isConnected;
    this.changed();
  }

  // follow tells what comes of a call that was approved, until something else is done.
  follow(decision) {
    this.followed = decision;
    this.changed();
  }

  fail(problem) {
    this.notice = [problem.message, problem.hint].filter(Boolean).join(" ");
    this.changed();
  }

  // me is who we are in this space.
  get me() {
    return this.session?.spaces?.find((s) => s.name === this.address.space)?.me ?? "";
  }

  // mine are the proposals that wait for us, among others: nobody decides on their own.
  get mine() {
    return this.queue.items.filter((p) => p.from !== this.me);
  }

  setSingleKeys(on) {
    this.singleKeys = on;
    remember("keys", on ? "on" : "off");
    this.changed();
  }

  toggleTheme() {
    toggleTheme();
    this.changed();
  }

  async signOut(everywhere) {
    try {
      await api.signOut(everywhere);
    } catch (problem) {
      if (problem.status !== 401) return this.fail(problem); // which is signed out as well
    }
    this.signedOut(everywhere ? "You are signed out, here and everywhere else." : "");
  }

  key(e) {
    this.handled = e.defaultPrevented ? e.key : undefined; // by the list
    if (!this.session || e.defaultPrevented) return;
    if ((e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey && e.key.toLowerCase() === "k") return this.act(e, "Ctrl K");
    if (!this.singleKeys || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.target.closest?.("input:not([type=checkbox], [type=radio], [type=range]), select, textarea")) {
      if (e.key === "Escape" && !this.dialog) e.target.blur();
      return;
    }
    if (e.key === " " && e.target.closest?.("button, a, summary, input")) return; // which it presses
    this.act(e, e.key);
  }

  // act does what a key stands for: in a dialog what that knows alone.
  act(e, key) {
    if (this.dialog) {
      if (e.repeat || !this.dialog.key?.(key)) return;
    } else {
      const command = commandOf(this, key);
      if (!command || (e.repeat && !command.repeat)) return;
      command.act();
    }
    this.handled = e.key;
    e.preventDefault();
  }

  // changed has the page drawn, once before the next frame.
  changed() {
    if (this.drawing) return;
    this.drawing = true;
    const draw = () => {
      this.drawing = false;
      this.draw();
    };
    if (document.hidden) setTimeout(draw, 250);
    else requestAnimationFrame(draw);
  }

  draw() {
    if (!this.session) {
      showWaiting(0);
      if (this.signInShown || this.busy) {
        render(signInPage({ busy: this.busy, problem: this.problem, submit: (how) => this.signIn(how) }), this.root);
      }
      return;
    }
    const { page } = this;
    const waiting = this.mine.length + this.asks.items.length;
    showWaiting(waiting, this.address.space);
    page.update?.();
    const focused = document.activeElement;
    render(shell(this, page), this.root);
    page.drawn?.();
    if (this.lost || (this.shown === page && !focused?.isConnected)) this.refocus();
    this.shown = page;
  }

  // refocus gives the keyboard to what comes next, where what had it is gone.
  refocus() {
    this.lost = false;
    if (document.activeElement !== document.body) return;
    const next = this.dialog ? (document.querySelector("dialog[open] [autofocus]") ?? document.querySelector("dialog[open] .buttons button:not(.primary)")) : landing();
    next?.focus({ preventScroll: true });
  }
}

applyTheme();
new App(document.getElementById("app"));
