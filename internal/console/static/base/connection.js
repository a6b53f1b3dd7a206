// A WebSocket that comes back. Frames are handled in batches, at most a few
// milliseconds of them at a time, so that a flood leaves the page time to answer;
// after a lost connection the gateway is asked for what came after the last frame
// that was handled.
const batchTime = 8; // milliseconds
const finalCloses = {
  4001: "signed out",
  4003: "You were removed from this room.",
  4009: "Another connection of yours took over, and asked to be the only one.",
};

export class Connection {
  // changed is called after each batch; ended with a reason when it is not worth
  // trying again; lost when a connection could not be made.
  constructor(space, store, { changed, ended, lost, history = 1000 }) {
    Object.assign(this, { space, store, changed, ended, lost, history });
    this.pending = [];
    this.head = 0;
    this.state = "connecting"; // or live, waiting, ended
    this.tries = 0;
    this.sooner = () => this.state === "waiting" && this.open();
    addEventListener("online", this.sooner);
    this.open();
  }

  open() {
    clearTimeout(this.timer);
    this.state = "connecting";
    const given = new URLSearchParams({ space: this.space });
    if (this.store.epoch) {
      given.set("after", this.store.last);
      given.set("epoch", this.store.epoch);
    } else {
      given.set("history", this.history);
    }
    const ws = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws?${given}`);
    this.ws = ws;
    ws.onmessage = (m) => this.take(m.data);
    ws.onclose = (e) => this.closed(ws, e.code);
  }

  take(frame) {
    if (this.state === "connecting") {
      this.state = "live";
      this.tries = 0;
    }
    this.pending.push(frame);
    this.schedule();
  }

  // schedule handles what waits at the next frame, or soon where the page is
  // not seen and so has no frames.
  schedule() {
    if (this.scheduled) return;
    this.scheduled = true;
    const next = () => {
      this.scheduled = false;
      this.handle(batchTime);
    };
    if (document.hidden) setTimeout(next, 100);
    else requestAnimationFrame(next);
  }

  handle(time) {
    const until = performance.now() + time;
    while (this.head < this.pending.length) {
      this.store.add(this.pending[this.head++]);
      if (this.head % 32 === 0 && performance.now() > until) break;
    }
    if (this.head === this.pending.length) {
      this.pending = [];
      this.head = 0;
    } else {
      this.schedule();
    }
    this.changed();
  }

  closed(ws, code) {
    if (ws !== this.ws || this.state === "ended") return;
    this.handle(Infinity); // what came counts before the position is asked for
    if (code in finalCloses) return this.end(finalCloses[code]);
    if (this.state === "connecting") this.lost();
    if (this.state === "ended") return;
    this.state = "waiting";
    const wait = Math.min(15_000, 250 * 2 ** this.tries++) * (0.75 + Math.random() / 2);
    this.timer = setTimeout(() => this.open(), code === 4029 ? wait + 5000 : wait);
    this.changed();
  }

  end(why) {
    this.stop();
    this.ended(why);
  }

  stop() {
    this.state = "ended";
    clearTimeout(this.timer);
    removeEventListener("online", this.sooner);
    this.ws.close();
  }
}
