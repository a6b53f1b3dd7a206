// The difference of two texts, to be looked at or listened to: a sign and a word on
// each line, never colour alone.
import { html, nothing } from "../vendor/lit-3.3.3.js";
import { diff, hunks, paired, parts } from "./diff.js";
import { clip, counted, visible } from "../base/text.js";

const mostLines = 400;
const mostChanged = 4000; // characters of one line
const mostBeside = 100; // unchanged characters on either side of a change within a line

export class DiffView {
  constructor(before, after) {
    this.hunks = hunks(paired(diff(before, after)));
    const changed = this.hunks.flatMap((h) => h.lines);
    this.removed = changed.filter((l) => l.sign === "-").length;
    this.added = changed.filter((l) => l.sign === "+").length;
  }

  // summary says how much changes, in words.
  get summary() {
    return `${counted(this.removed, "line")} removed, ${counted(this.added, "line")} added`;
  }

  view() {
    let left = mostLines;
    let hidden = 0;
    const shown = this.hunks.map(({ skipped, lines }) => {
      const some = lines.slice(0, left);
      left -= some.length;
      hidden += lines.length - some.length;
      return html`${skipped && left + some.length ? html`<li class="skipped">${counted(skipped, "unchanged line")}</li>` : nothing}${some.map(row)}`;
    });
    return html`
      <ol class="diff block" tabindex="0" aria-label="Difference: ${this.summary}">${shown}</ol>
      ${hidden ? html`<p class="warning">${hidden.toLocaleString("en")} more lines of the difference are not shown; all of it is below, as it will be sent.</p>` : nothing}`;
  }
}

const words = { "-": "Removed", "+": "Added", " ": "Unchanged" };
const signs = { "-": "−", "+": "+", " ": " " };
const classes = { "-": "removed", "+": "added", " ": "" };

function row(line) {
  return html`<li class=${classes[line.sign]}><span class="sign" aria-hidden="true">${signs[line.sign]}</span><span class="sr">${words[line.sign]}: </span><code>${content(line)}</code></li>`;
}

function content({ sign, text, other }) {
  if (sign === " ") return visible(clip(text, 2 * mostBeside));
  if (other === undefined) return visible(clip(text, mostChanged));
  const [head, own, tail] = parts(text, other);
  const before = head.length > mostBeside ? `(${(head.length - mostBeside).toLocaleString("en")} more) …${head.slice(-mostBeside)}` : head;
  const mark = own ? (sign === "-" ? html`<del>${visible(clip(own, mostChanged))}</del>` : html`<ins>${visible(clip(own, mostChanged))}</ins>`) : nothing;
  return html`${visible(before)}${mark}${visible(clip(tail, mostBeside))}`;
}
