// Plays a thread again at the speed of reading: how long each message stays, and what
// is made of the pauses that there were. Pure but for the timer that it is given.
const perSecond = 22; // characters that one reads
const shortest = 500; // milliseconds of a message
const longest = 6000;
const pause = 1500; // what is left of a longer pause between two messages
export const speeds = [1, 2, 4, 8];

export class Player {
  // moved is called when another message is the last that is shown.
  constructor({ moved, timer = { set: (fn, ms) => setTimeout(fn, ms), clear: (t) => clearTimeout(t) } }) {
    Object.assign(this, { moved, timer, messages: [], at: -1, speed: 1, playing: false });
  }

  // stays is how long message i stays before the next comes: what reading takes, and
  // some of the pause that there was.
  stays(i) {
    const reading = Math.min(longest, Math.max(shortest, (1000 * this.messages[i].text.length) / perSecond));
    return (reading + Math.min(pause, this.gap(i + 1) / 4)) / this.speed;
  }

  // gap is how long after the one before a message came, in milliseconds.
  gap(i) {
    const [before, it] = [this.messages[i - 1], this.messages[i]];
    return before && it ? Math.max(0, Date.parse(it.ts) - Date.parse(before.ts)) : 0;
  }

  play() {
    if (this.at >= this.messages.length - 1) this.at = -1; // again
    this.playing = true;
    this.next();
  }

  next() {
    if (this.at < this.messages.length - 1) this.at++;
    if (this.at >= this.messages.length - 1) this.playing = false;
    else this.timing = this.timer.set(() => this.next(), this.stays(this.at));
    this.moved();
  }

  pause() {
    this.timer.clear(this.timing);
    this.playing = false;
    this.moved();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  // seek goes to a message. What plays goes on from there.
  seek(i) {
    this.timer.clear(this.timing);
    this.at = Math.min(this.messages.length - 1, Math.max(0, i));
    if (this.playing) this.timing = this.timer.set(() => this.next(), this.stays(this.at));
    this.moved();
  }

  step(by) {
    if (this.playing) this.pause();
    this.seek(this.at + by);
  }

  faster(by) {
    const i = speeds.indexOf(this.speed) + by;
    this.speed = speeds[Math.min(speeds.length - 1, Math.max(0, i))];
    if (this.playing) this.seek(this.at);
    else this.moved();
  }
}
