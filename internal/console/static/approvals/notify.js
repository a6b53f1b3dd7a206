// What tells somebody who is not looking: notifications of the desktop, and a count
// in the title and the icon of the page.
import { remember, setting } from "../base/settings.js";
import { clip, oneLine, visible } from "../base/text.js";

const mostAtOnce = 3; // proposals that are told of one by one
const mostShown = 20; // notifications that are kept in mind
const mostName = 80; // characters of a tool's name or of an id

export class Notifier {
  // app has me, mine, address, store and go(change).
  constructor(app) {
    this.app = app;
    this.space = app.address.space;
    this.newest = undefined; // position up to which all proposals count as told
    this.shown = new Map(); // proposal → its notification
  }

  static get possible() {
    return typeof Notification === "function";
  }

  get on() {
    return Notifier.possible && Notification.permission === "granted" && setting("notify", "off") === "on";
  }

  // turnOn asks for the browser's permission where that is open, and reports
  // whether it is given.
  async turnOn() {
    if (!Notifier.possible || (await Notification.requestPermission()) !== "granted") return false;
    remember("notify", "on");
    return true;
  }

  turnOff() {
    remember("notify", "off");
    this.stop();
  }

  // heard is called with each answer on what waits. What waited when the page began
  // to look is not new, and after a lost connection nothing is told again: positions
  // only grow, within one record.
  heard() {
    const { store, mine } = this.app;
    const first = this.newest === undefined || this.epoch !== store.epoch;
    const fresh = first ? [] : mine.filter((p) => p.seq > this.newest);
    this.newest = Math.max(first ? store.last : this.newest, ...mine.map((p) => p.seq));
    this.epoch = store.epoch;
    this.forget();
    if (!fresh.length || !this.on || (!document.hidden && document.hasFocus())) return;
    if (fresh.length > mostAtOnce) return this.show("", `${fresh.length.toLocaleString("en")} proposals wait for you`, `in ${short(this.space)}`);
    for (const p of fresh) this.show(p.id, `${short(p.title)}: proposed by ${short(p.from)}`, `It waits for a decision in ${short(this.space)}.`);
  }

  // show never tells what is in the arguments: others may see the screen.
  show(id, title, body) {
    let one;
    try {
      one = new Notification(title, { body, tag: `parley ${this.space} ${id}` }); // so that two pages tell it once
    } catch {
      return; // some browsers have them for installed pages alone
    }
    one.onclick = () => {
      window.focus();
      this.app.go({ page: "approvals", proposal: id });
      one.close();
    };
    this.shown.get(id)?.close();
    this.shown.set(id, one);
    if (this.shown.size > mostShown) this.shown.delete(this.shown.keys().next().value);
  }

  // forget takes back what tells of proposals that wait no longer.
  forget() {
    if (!this.shown.size) return;
    const waiting = new Set(this.app.mine.map((p) => p.id));
    for (const [id, one] of this.shown) {
      if (id ? waiting.has(id) : waiting.size) continue;
      one.close();
      this.shown.delete(id);
    }
  }

  stop() {
    for (const one of this.shown.values()) one.close();
    this.shown.clear();
  }
}

const short = (text) => oneLine(clip(text, mostName));

export const badged = () => setting("badge", "on") !== "off";

export function setBadged(on) {
  remember("badge", on ? "on" : "off");
}

// showWaiting puts how many wait into the title, and a dot onto the icon.
export function showWaiting(waiting, space) {
  const shown = badged() ? waiting : 0;
  document.title = [`${shown ? `(${shown}) ` : ""}${visible(space ?? "")}`, "Parley"].filter(Boolean).join(" · ");
  const icon = document.querySelector("link[rel=icon]");
  const wanted = shown ? "/console/icon_waiting.svg" : "/console/icon.svg";
  if (icon && icon.getAttribute("href") !== wanted) icon.setAttribute("href", wanted);
}
