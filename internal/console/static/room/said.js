// What somebody said to the room, in full: with its markdown, or as it was written.
import { html } from "../vendor/lit-3.3.3.js";
import { markdown } from "../base/markdown.js";
import { at } from "../base/raw.js";
import { clip, visible } from "../base/text.js";

const mostRendered = 20_000; // characters as markdown
const mostShown = 200_000;

export class Said {
  constructor(app, row) {
    Object.assign(this, { app, row });
  }

  // of takes the gateway's copy, once it is there.
  of(envelope) {
    if (envelope === undefined || envelope === this.envelope) return;
    this.envelope = envelope;
    const text = at(envelope, "payload", "text");
    this.text = text?.startsWith('"') ? JSON.parse(text) : undefined;
    this.plain = at(envelope, "payload", "format") === '"plain"';
    this.rendered = undefined;
  }

  toggle() {
    this.plain = !this.plain;
    this.app.changed();
  }

  view() {
    if (this.text === undefined) return html`<p class="said"><bdi>${visible(this.row.text)}</bdi></p>`;
    return html`
      ${this.plain ? html`<p class="said"><bdi>${visible(clip(this.text, mostShown))}</bdi></p>` : (this.rendered ??= markdown(clip(this.text, mostRendered)))}
      <p><button class="plain small" id="as-written" aria-pressed=${this.plain} @click=${() => this.toggle()}>As written</button></p>`;
  }
}
