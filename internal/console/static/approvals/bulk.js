// Several proposals, rejected one after the other. Pure but for what sends.
const atOnce = 4;
const mostTries = 12; // of one, while the gateway asks to wait
const longestWait = 10_000; // milliseconds
const passing = new Set(["rate_limited", "unavailable"]); // codes of refusals that go by

export class Bulk {
  // send(item) rejects one; meanwhile(item) says how it ended, where it has, as {state, by, own};
  // changed() is called as it goes on.
  constructor(items, { send, meanwhile, changed, newID, wait = (ms) => new Promise((r) => setTimeout(r, ms)) }) {
    this.items = items.map((p) => ({ ...p, requestID: newID(), state: "waiting" })); // then sending, rejected, decided, failed
    Object.assign(this, { send, meanwhile, changed, wait, running: false, stopped: false });
  }

  count(state) {
    return this.items.filter((one) => one.state === state).length;
  }

  get left() {
    return this.items.filter((one) => one.state === "waiting");
  }

  // heard notes what was decided before its turn came, or where the answer was lost.
  heard() {
    for (const one of this.items) if (one.state === "waiting" || one.state === "failed") this.ended(one, this.meanwhile(one));
  }

  ended(one, how) {
    if (how) Object.assign(one, how.own && how.state === "rejected" ? { state: "rejected" } : { state: "decided", how }, { why: undefined });
  }

  // run rejects what is left. Each is sent under its own id, so that it counts once,
  // whatever becomes of the answers.
  async run(given) {
    this.running = true;
    this.stopped = false;
    const work = async () => {
      for (let one; !this.stopped && (this.heard(), (one = this.left[0])); ) await this.one(one, given);
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    this.running = false;
    this.changed();
  }

  async one(one, given) {
    one.state = "sending";
    this.changed();
    for (let tries = 1; ; tries++) {
      try {
        await this.send(one, given);
        one.state = "rejected";
      } catch (problem) {
        if (passing.has(problem.code) && tries < mostTries && !this.stopped) {
          await this.wait(Math.min(longestWait, problem.problem?.retry_after_ms ?? 250 * tries));
          continue;
        }
        this.refused(one, problem);
      }
      return this.changed();
    }
  }

  refused(one, problem) {
    if (problem.code === "duplicate_id") one.state = "rejected"; // by a try whose answer was lost
    else if (problem.code === "proposal_closed") this.ended(one, this.meanwhile(one) ?? problem.message);
    else Object.assign(one, { state: "failed", why: [problem.code, problem.message].filter(Boolean).join(": ") });
  }

  stop() {
    this.stopped = true;
  }

  // again lets what failed be tried once more.
  again() {
    for (const one of this.items) if (one.state === "failed") Object.assign(one, { state: "waiting", why: undefined });
  }
}
