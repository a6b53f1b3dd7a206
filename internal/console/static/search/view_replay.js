// A thread, played again.
import { html, nothing, ref } from "../vendor/lit-3.3.3.js";
import { writeAddress, everything } from "../base/address.js";
import * as api from "../base/api.js";
import { contextOf } from "./chain.js";
import { save } from "./export.js";
import { lines } from "../base/lines.js";
import { Player, speeds } from "./player.js";
import { badge, person } from "../base/row.js";
import { oneRow } from "../room/store.js";
import { clip, lasted, stamp, visible } from "../base/text.js";

const most = 20_000; // envelopes at once
const mostUnits = 32 << 20; // and characters of them
const drawn = 60; // messages above and including the one that is played
const mostText = 4000; // characters of one message
const toldGap = 5000; // milliseconds: shorter pauses are not told

export class ReplayView {
  constructor(page, context, subtree) {
    Object.assign(this, { page, app: page.app, context, subtree, lines: [], state: "loading" });
    this.stopper = new AbortController();
    this.player = new Player({ moved: () => this.moved() });
    this.load(0);
  }

  stop() {
    this.stopper.abort();
    if (this.player.playing) this.player.pause();
  }

  pause() {
    if (this.player.playing) this.player.pause();
  }

  // load has the thread as it was said, behind a position, up to a bound.
  async load(after) {
    const { app, context, subtree } = this;
    const { signal } = this.stopper;
    Object.assign(this, { state: "loading", problem: undefined, lines: [], from: after });
    this.player.messages = [];
    app.changed();
    try {
      const given = { ...(subtree ? { subtree: "true" } : {}), ...(after ? { after } : {}) };
      const answer = await fetch(api.replayPath(app.address.space, context, given), { signal, cache: "no-store" });
      if (!answer.ok) throw new Error([(await answer.json().catch(() => ({}))).detail ?? `The gateway answered ${answer.status}.`].join(" "));
      await this.read(answer.body);
      this.state = "ready";
    } catch (problem) {
      if (signal.aborted) return;
      Object.assign(this, { state: "failed", problem });
    }
    this.begin();
    app.changed();
  }

  async read(stream) {
    let units = 0;
    this.more = false;
    for await (const some of lines(stream)) {
      for (const line of some) {
        if (this.lines.length === most || (units += line.length) > mostUnits) {
          this.more = true;
          return;
        }
        const e = JSON.parse(line);
        this.lines.push(line);
        this.player.messages.push({ row: oneRow(e), e: { id: e.id, from: e.from, seq: e.seq, context: contextOf(e) }, ts: e.ts, text: told(e) });
      }
      this.app.changed();
    }
  }

  // begin stands where the address says, else before the first message.
  begin() {
    const { messages } = this.player;
    const at = Number(this.app.address.at) || 0;
    const i = at ? messages.findLastIndex((m) => m.e.seq <= at) : -1;
    this.player.at = Math.min(messages.length - 1, Math.max(i, 0));
  }

  moved() {
    const { app, player } = this;
    const seq = player.messages[player.at]?.e.seq;
    if (seq && !player.playing && !this.stopper.signal.aborted) {
      app.address.at = String(seq);
      writeAddress(app.address);
    }
    this.follow = true;
    app.changed();
  }

  commands() {
    const { player } = this;
    return [
      { label: player.playing ? "Pause" : "Play", keys: [" "], act: () => player.toggle() },
      { label: "One message on", keys: ["ArrowRight", "j"], repeat: true, act: () => player.step(1) },
      { label: "One message back", keys: ["ArrowLeft", "k"], repeat: true, act: () => player.step(-1) },
      { label: "Faster", keys: ["+"], act: () => player.faster(1) },
      { label: "Slower", keys: ["-"], act: () => player.faster(-1) },
    ];
  }

  // drawn keeps the message that is played in sight.
  drawn() {
    if (!this.follow || !this.body) return;
    this.follow = false;
    this.body.querySelector(".said.now")?.scrollIntoView({ block: "nearest" });
  }

  view() {
    const { player, page, app } = this;
    const n = player.messages.length;
    const now = player.messages[player.at];
    return html`
      <section class="past" aria-label="Replay">
        <header class="heading">
          <button class="plain" @click=${() => page.back()}>‹ Search</button>
          <h2>Replay <bdi class="thread">${visible(this.context)}</bdi></h2>
          <span class="grow"></span>
          <label class="check"><input type="checkbox" name="subtree" .checked=${this.subtree} @change=${(e) => app.go({ subtree: e.target.checked ? "true" : "", at: "" })}> with what is nested in it</label>
          ${n ? html`<button @click=${() => save(app.address.space, `thread-${this.context}`, this.lines)}>Export</button>` : nothing}
        </header>
        <div class="body" tabindex="-1" ${ref((element) => (this.body = element))}>
          ${this.problem ? html`<p class="problem" role="alert">${visible(this.problem.message)} <button @click=${() => this.load(this.from)}>Try again</button></p>` : nothing}
          ${this.state === "loading" ? html`<p class="quiet" role="status">Loading… ${n ? n.toLocaleString("en") : ""}</p>` : nothing}
          ${this.state === "ready" && !n ? html`<p class="empty">Nothing was said in this thread.</p>` : nothing}
          ${player.at >= drawn ? html`<p class="quiet small">${(player.at - drawn + 1).toLocaleString("en")} messages before.</p>` : nothing}
          <ol class="played">${player.messages.slice(Math.max(0, player.at - drawn + 1), player.at + 1).map((m, i, shown) => this.message(m, player.at - shown.length + 1 + i))}</ol>
          ${player.at === n - 1 && this.more ? html`<p class="warning">The thread goes on. <button @click=${() => ((app.address.at = ""), this.load(player.messages.at(-1).e.seq))}>Go on from here</button></p>` : nothing}
        </div>
        <footer class="player" role="group" aria-label="Player">
          <button class="icon" @click=${() => player.step(-1)} ?disabled=${player.at <= 0} aria-label="One message back">‹</button>
          <button id="play" class="primary" @click=${() => player.toggle()} ?disabled=${!n}>${player.playing ? "Pause" : "Play"} <kbd>space</kbd></button>
          <button class="icon" @click=${() => player.step(1)} ?disabled=${player.at >= n - 1} aria-label="One message on">›</button>
          <input type="range" name="seek" min="0" max=${Math.max(0, n - 1)} .value=${String(Math.max(0, player.at))} ?disabled=${!n} aria-label="Position" aria-valuetext="${player.at + 1} of ${n}" @input=${(e) => player.seek(Number(e.target.value))}>
          <span class="position" role="status">${(player.at + 1).toLocaleString("en")} of ${n.toLocaleString("en")}${now ? html` <time class="quiet" datetime=${now.ts}>${stamp(now.ts)}</time>` : nothing}</span>
          <span class="speeds" role="group" aria-label="Speed">${speeds.map((s) => html`<button class="plain" aria-pressed=${player.speed === s} @click=${() => player.faster(speeds.indexOf(s) - speeds.indexOf(player.speed))}>${s}×</button>`)}</span>
        </footer>
      </section>`;
  }

  message({ row, e, ts, text }, i) {
    const { player, app } = this;
    const gap = player.gap(i);
    return html`
      ${gap >= toldGap ? html`<li class="gap">${lasted(gap)} later</li>` : nothing}
      <li class="said ${i === player.at ? "now" : ""} ${row.type}">
        <div class="line">
          ${person(e.from)} <span class="quiet">${visible(row.kind)}</span>
          ${row.to.length ? html`<span class="quiet">to</span> ${row.to.slice(0, 4).map(person)}` : nothing} ${badge(row.state)}
          ${e.context !== this.context ? html`<bdi class="thread">${visible(e.context)}</bdi>` : nothing}
          <span class="grow"></span>
          <button class="plain small" @click=${() => app.go({ ...everything, page: "search", id: e.id })}>Chain</button>
          <time datetime=${ts}>${stamp(ts)}</time>
        </div>
        <p class=${/^[[{]/.test(text) ? "code" : ""}><bdi>${visible(text)}</bdi></p>
      </li>`;
  }
}

// told is what a message says, as long as one would read it.
function told(e) {
  for (const name of ["text", "thought", "decision", "message", "summary"]) {
    if (typeof e.payload?.[name] === "string") return clip(e.payload[name], mostText);
  }
  return oneRow(e).text;
}
