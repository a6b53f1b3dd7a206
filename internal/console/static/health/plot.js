// A small plot of the last quarter of an hour. Each line has a pattern of dashes beside
// its colour; a value is read by pointing, by the arrow keys, or in a table.
import { html, live, nothing } from "../vendor/lit-3.3.3.js";
import { ceiling } from "./metrics.js";
import { clock } from "../base/text.js";

const wide = 600;
const high = 120;
const tallest = 0.97; // of the height, so that the line's upper half is seen
const broken = 75_000; // milliseconds without a look: there the line ends
const shortest = 120_000; // milliseconds that the axis spans at least
const tableRows = 30;

export class Plot {
  // series are {name, label} of points; show writes a value with its unit; least is
  // where the axis ends at least.
  constructor(app, { title, note, series, show, least }) {
    Object.assign(this, { app, title, note, series, show, least });
    this.id = "plot-" + title.toLowerCase().replace(/\W+/g, "-");
  }

  read(i) {
    this.cursor = i;
    this.app.changed();
  }

  // view spans what there is of the last longest milliseconds.
  view(points, longest) {
    const to = points.at(-1)?.at ?? 0;
    const span = Math.max(shortest, Math.min(longest, to - (points[0]?.at ?? to)));
    const from = to - span;
    const shown = points.filter((p) => p.at >= from);
    const x = (at) => ((at - from) / span) * wide;
    const most = ceiling(Math.max(this.least, ...shown.flatMap((p) => this.series.map((s) => p[s.name] ?? 0))));
    const y = (v) => high - (v / most) * high * tallest;
    const last = shown.length - 1;
    const at = Math.min(this.cursor ?? last, last);
    const here = shown[at];
    const words = here ? this.series.map((s) => `${s.label} ${this.value(here[s.name])}`).join(", ") : "no figures yet";
    const point = (e) => {
      const box = e.currentTarget.getBoundingClientRect();
      const wanted = from + ((e.clientX - box.left) / box.width) * span;
      this.read(nearest(shown, wanted));
    };
    return html`
      <figure class="plot" aria-labelledby=${this.id}>
        <figcaption><h2 id=${this.id}>${this.title}</h2>
          <ul class="legend">${this.series.map((s, i) => html`<li><svg class="sample" viewBox="0 0 24 8" aria-hidden="true"><path class="trace trace-${i}" d="M0 4H24"></path></svg>${s.label} <strong>${here ? this.value(here[s.name]) : "…"}</strong></li>`)}</ul>
          <span class="quiet small when">${this.cursor === undefined || !here ? this.note ?? "" : `at ${clock(here.at)}`}</span></figcaption>
        <div class="scale" aria-hidden="true"><span>${this.show(most)}</span><span>${this.show(most / 2)}</span><span>0</span></div>
        <div class="area" @pointermove=${point} @pointerleave=${() => this.read(undefined)}>
          <svg viewBox="0 0 ${wide} ${high}" preserveAspectRatio="none" aria-hidden="true">
            <path class="grid" d="M0 ${y(most)}H${wide}M0 ${y(most / 2)}H${wide}M0 ${high}H${wide}"></path>
            <path class="trace trace-0" d=${line(shown, this.series[0], x, y)}></path>
            <path class="trace trace-1" d=${line(shown, this.series[1], x, y)}></path>
            <path class="trace trace-2" d=${line(shown, this.series[2], x, y)}></path>
            <path class="cursor" d=${this.cursor === undefined || !here ? "" : `M${x(here.at).toFixed(1)} 0V${high}`}></path>
          </svg>
          <input type="range" aria-label="Read ${this.title}" min="0" max=${Math.max(last, 0)} .value=${live(String(Math.max(at, 0)))} aria-valuetext="${here ? clock(here.at) : ""} ${words}"
            @input=${(e) => this.read(Number(e.target.value))} @blur=${() => this.read(undefined)}>
        </div>
        <div class="times" aria-hidden="true"><span>${Math.round(span / 60_000)} min ago</span><span>now</span></div>
        <details class="figures" @toggle=${(e) => ((this.tabled = e.target.open), this.app.changed())}><summary>As a table</summary>${this.tabled ? this.table(shown) : nothing}</details>
      </figure>`;
  }

  value(v) {
    return v === undefined || Number.isNaN(v) ? "–" : this.show(v);
  }

  table(points) {
    const step = Math.ceil(points.length / tableRows) || 1;
    const rows = points.filter((_, i) => (points.length - 1 - i) % step === 0).reverse();
    return html`<div class="over" tabindex="0"><table><thead><tr><th scope="col">Time</th>${this.series.map((s) => html`<th scope="col">${s.label}</th>`)}</tr></thead>
      <tbody>${rows.map((p) => html`<tr><th scope="row">${clock(p.at)}</th>${this.series.map((s) => html`<td>${this.value(p[s.name])}</td>`)}</tr>`)}</tbody></table></div>`;
  }
}

// line is the path of one series, in pieces where nobody looked or nothing is known.
export function line(points, series, x, y) {
  let path = "";
  let before;
  for (const p of points) {
    const v = series && p[series.name];
    if (v === undefined || Number.isNaN(v) || v === Infinity) {
      before = undefined;
      continue;
    }
    const joined = before && p.at - before.at < broken;
    const place = `${x(p.at).toFixed(1)} ${y(v).toFixed(1)}`;
    path += joined ? `L${place}` : `M${place}h.01`;
    before = p;
  }
  return path;
}

function nearest(points, at) {
  let found;
  for (let i = 0; i < points.length; i++) if (found === undefined || Math.abs(points[i].at - at) < Math.abs(points[found].at - at)) found = i;
  return found;
}
