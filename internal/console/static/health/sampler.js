// What the gateway's figures were in the last quarter of an hour, as far as this page
// has looked: often while somebody looks at them, rarely while another page is shown, and
// never while nobody sees the console.
import * as api from "../base/api.js";
import { buckets, by, increase, parse, quantile, sum } from "./metrics.js";

const kept = 15 * 60_000; // milliseconds
const often = 5_000;
const rarely = 30_000;
const soon = 1_500; // for the second look, without which there is no rate

export const wanted = (name) => name.startsWith("parley_") || name.startsWith("process_");

export class Sampler {
  // changed is called after each look; failed with a problem.
  constructor(space, { changed, failed }) {
    Object.assign(this, { space, changed, failed });
    this.points = []; // {at, …}, oldest first: see point
    this.seen = () => !document.hidden && this.look();
    document.addEventListener("visibilitychange", this.seen);
  }

  // pace says whether somebody looks at the figures.
  pace(watched) {
    if (this.watched === watched) return;
    this.watched = watched;
    if (watched) this.look();
    else this.later();
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.seen);
  }

  later() {
    clearTimeout(this.timer);
    if (this.stopped || document.hidden) return;
    this.timer = setTimeout(() => this.look(), !this.watched ? rarely : this.points.length < 2 ? soon : often);
  }

  async look() {
    if (this.looking || this.stopped) return;
    clearTimeout(this.timer);
    this.looking = true;
    try {
      this.add(parse(await api.metrics(), wanted), Date.now());
      this.problem = undefined;
    } catch (problem) {
      this.problem = problem;
      if (!this.stopped) this.failed(problem);
    }
    this.looking = false;
    this.later();
    if (!this.stopped) this.changed();
  }

  add(figures, at) {
    const before = this.figures;
    const seconds = (at - this.at) / 1000;
    this.points.push(point(this.space, before, figures, seconds, at));
    while (this.points[0].at < at - kept) this.points.shift();
    this.first ??= figures;
    Object.assign(this, { figures, at });
  }

  // refusals are how many there were by code: since the gateway started, and since
  // this page began to look.
  refusals() {
    const name = "parley_envelopes_refused_total";
    const given = { space: this.space };
    const first = by(this.first, name, "code", given);
    return [...by(this.figures, name, "code", given)]
      .filter(([, all]) => all > 0)
      .map(([code, all]) => ({ code, all, lately: increase(first.get(code), all) }))
      .sort((a, b) => b.all - a.all);
  }

  // saved are tokens by who was answered.
  saved() {
    const given = { space: this.space };
    const saved = by(this.figures, "parley_tool_answer_tokens_saved_total", "participant", given);
    const used = by(this.figures, "parley_tool_answer_tokens_total", "participant", given);
    const answers = by(this.figures, "parley_tool_answers_total", "participant", given);
    return [...answers].map(([id, n]) => ({ id, answers: n, used: used.get(id) ?? 0, saved: saved.get(id) ?? 0 })).sort((a, b) => b.saved - a.saved);
  }

  value(name, given = {}) {
    return this.figures && sum(this.figures, name, given);
  }

  ours(name, given = {}) {
    return this.value(name, { space: this.space, ...given });
  }
}

// point is what the plots show of one moment; undefined where it is not known.
export function point(space, before, after, seconds, at) {
  const ours = { space };
  const rate = (name) => (before && seconds > 0 ? scaled(increase(sum(before, name, ours), sum(after, name, ours)), 1 / seconds) : undefined);
  const part = (q, name) => (before ? quantile(q, buckets(before, name, ours), buckets(after, name, ours)) : undefined);
  return {
    at,
    admitted: rate("parley_envelopes_admitted_total"),
    refused: rate("parley_envelopes_refused_total"),
    delivered: rate("parley_delivered_bytes_total"),
    median: scaled(part(0.5, "parley_journal_commit_duration_seconds"), 1000),
    slow: scaled(part(0.99, "parley_journal_commit_duration_seconds"), 1000),
    waiting: sum(after, "parley_submissions_waiting", ours),
    behind: part(0.99, "parley_connection_lag_envelopes"),
    unindexed: sum(after, "parley_journal_index_lag_envelopes", ours),
    connections: sum(after, "parley_connections", ours),
    present: sum(after, "parley_participants_present", ours),
    saved: rate("parley_tool_answer_tokens_saved_total"),
  };
}

const scaled = (n, by) => (n === undefined ? undefined : n * by);
