// The proposals that wait for a decision, as the gateway lists them: the stream
// holds no more than a part of the past.
import * as api from "../base/api.js";
import { learn } from "../base/names.js";
import { at, items } from "../base/raw.js";
import { clip } from "../base/text.js";

const delay = 150; // milliseconds: the gateway is asked once per burst

export class Queue {
  // answered is called with each answer of the gateway, changed when items are new,
  // failed with a problem.
  constructor(space, store, { answered, changed, failed }) {
    Object.assign(this, { space, store, answered, changed, failed });
    this.items = [];
    this.more = false; // whether others wait behind these
    this.answers = 0; // of the gateway so far
    this.asked = -1;
  }

  stop() {
    clearTimeout(this.timer);
    this.stopped = true;
  }

  // heard is called when there may be something new.
  heard() {
    const { store } = this;
    if (store.decisions === this.asked && store.epoch === this.epoch) return;
    this.items = this.items.filter((p) => (store.byID.get(p.id)?.state ?? "open") === "open");
    this.timer ??= setTimeout(() => this.ask(), delay);
  }

  async ask() {
    const { store } = this;
    this.asked = store.decisions;
    this.epoch = store.epoch;
    try {
      const text = await api.openProposals(this.space);
      if (this.stopped) return;
      this.items = items(at(text, "items")).map(listed);
      for (const p of this.items) [p.from, ...p.to].forEach(learn);
      this.more = at(text, "next") !== undefined;
      this.answers++;
      store.waiting = new Set(this.items.map((p) => p.id));
      this.answered();
    } catch (problem) {
      if (this.stopped) return;
      this.asked = -1; // and again with the next frame
      this.failed(problem);
    }
    this.timer = undefined;
    if (this.asked !== -1) this.heard();
    this.changed();
  }
}

// listed is what the list shows of one, whose arguments stay as they are written.
function listed(text) {
  const p = JSON.parse(text);
  const { method, params } = p.payload ?? {};
  const to = p.to ?? [];
  return {
    id: p.id, seq: p.seq, from: p.from, to, opened: p.opened,
    title: clip(String(params?.name ?? params?.uri ?? method ?? p.kind), 160),
    sample: clip(at(text, "payload", "params", "arguments") ?? "", 160),
    alike: JSON.stringify([p.kind, to]), // what calls of one tool have in common
  };
}
