// What is asked of us, where it is told: above each page, and beside the proposals.
import { html, nothing } from "../vendor/lit-3.3.3.js";
import { person } from "../base/row.js";
import { ago, oneLine } from "../base/text.js";

// askedStrip says above a page that somebody waits for an answer.
export function askedStrip(app) {
  const { items } = app.asks;
  const [first] = items;
  if (!first) return nothing;
  return html`<p class="strip warn asks"><span>${person(first.from)} <strong>asks you something</strong>: <bdi>${oneLine(first.message)}</bdi>${items.length > 1 ? html` <span class="small">and ${(items.length - 1).toLocaleString("en")} more</span>` : nothing}</span>
    <button id="answer" class="primary" @click=${() => app.answer(first)}>Answer</button></p>`;
}

const atOnce = 4; // that stand above what is proposed

// askedList lists all that is asked of us, the oldest first.
export function askedList(app) {
  const { items, more } = app.asks;
  if (!items.length) return nothing;
  const rest = items.slice(atOnce);
  return html`
    <h2>Asked of you <span class="count">${items.length.toLocaleString("en")}</span></h2>
    <ul class="asked-list">${items.slice(0, atOnce).map((a) => card(app, a))}</ul>
    ${rest.length ? html`<details class="asked-rest"><summary>${rest.length.toLocaleString("en")} more</summary><ul class="asked-list">${rest.map((a) => card(app, a))}</ul></details>` : nothing}
    ${more ? html`<p class="quiet small">More wait: they come once there is room.</p>` : nothing}`;
}

const card = (app, a) => html`
  <li><button class="card" @click=${() => app.answer(a)}>
    <span>${person(a.from)} <span class="quiet">asks</span></span>
    <span class="two-lines"><bdi>${oneLine(a.message)}</bdi></span>
    <span class="quiet small">${ago(a.ts, Date.now())}</span>
  </button></li>`;
