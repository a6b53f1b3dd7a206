// The gateway's figures, as GET /metrics writes them for Prometheus, and what can be
// told from two looks at them. Pure.
const mostSeries = 20_000;

// parse reads the text format: the samples of each name, each with its labels and
// value. What is no sample is left out; a label's value may hold anything. Only names
// that wanted accepts are kept.
export function parse(text, wanted = () => true) {
  const figures = new Map();
  let kept = 0;
  let at = 0;
  while (at < text.length && kept < mostSeries) {
    let end = text.indexOf("\n", at); // a label writes a break of the line as \n
    if (end < 0) end = text.length;
    const line = text.slice(at, end);
    at = end + 1;
    const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0];
    if (!name || !wanted(name)) continue;
    const sample = readSample(line, name.length);
    if (!sample) continue;
    kept++;
    if (!figures.has(name)) figures.set(name, []);
    figures.get(name).push(sample);
  }
  return figures;
}

function readSample(line, from) {
  const labels = new Map();
  let at = from;
  if (line[at] === "{") {
    at = readLabels(line, at + 1, labels);
    if (at < 0) return undefined;
  }
  const written = line.slice(at).trim().split(/\s+/)[0];
  const value = { "+Inf": Infinity, Inf: Infinity, "-Inf": -Infinity, NaN: NaN }[written] ?? (/^[-+0-9.]/.test(written) ? Number(written) : undefined);
  return value === undefined || (Number.isNaN(value) && written !== "NaN") ? undefined : { labels, value };
}

// readLabels reads name="value" up to the brace, and returns where that ends; -1 where
// it does not.
function readLabels(line, at, labels) {
  const label = /[\s,]*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"/y;
  const close = /[\s,]*}/y;
  for (;;) {
    close.lastIndex = at;
    if (close.test(line)) return close.lastIndex;
    label.lastIndex = at;
    const found = label.exec(line);
    if (!found) return -1;
    labels.set(found[1], found[2].replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c)));
    at = label.lastIndex;
  }
}

// select are the samples of a name whose labels are as given.
export function select(figures, name, given = {}) {
  return (figures.get(name) ?? []).filter(({ labels }) => Object.entries(given).every(([label, value]) => labels.get(label) === value));
}

// sum is undefined where there is no such sample: then nobody knows.
export function sum(figures, name, given) {
  const found = select(figures, name, given);
  return found.length ? found.reduce((all, s) => all + s.value, 0) : undefined;
}

// by sums samples by a label's value.
export function by(figures, name, label, given) {
  const sums = new Map();
  for (const s of select(figures, name, given)) {
    const value = s.labels.get(label) ?? "";
    sums.set(value, (sums.get(value) ?? 0) + s.value);
  }
  return sums;
}

// increase is how much a counter grew. One that is smaller than before began anew.
export function increase(before, after) {
  if (after === undefined || Number.isNaN(after)) return undefined;
  return before === undefined || after < before ? after : after - before;
}

// buckets are a histogram's cumulative counts by their upper bound, in order.
export function buckets(figures, name, given) {
  return [...by(figures, name + "_bucket", "le", given)]
    .map(([le, count]) => ({ le: le === "+Inf" ? Infinity : Number(le), count }))
    .filter((b) => !Number.isNaN(b.le))
    .sort((a, b) => a.le - b.le);
}

// quantile is estimated from what came into each bucket between two looks, linearly
// within one, as Prometheus does. It is undefined where nothing came.
export function quantile(q, before, after) {
  const total = after.at(-1)?.count;
  const reset = total === undefined || total < (before.at(-1)?.count ?? 0);
  const earlier = new Map(reset ? [] : before.map((b) => [b.le, b.count]));
  const grown = after.map((b) => ({ le: b.le, count: b.count - (earlier.get(b.le) ?? 0) }));
  const all = grown.at(-1)?.count ?? 0;
  if (!(all > 0)) return undefined;
  const rank = q * all;
  let below = { le: 0, count: 0 };
  for (const b of grown) {
    if (b.count >= rank && b.count > below.count) {
      if (b.le === Infinity) return below.le;
      return below.le + (b.le - below.le) * Math.max(0, rank - below.count) / (b.count - below.count);
    }
    below = b;
  }
  return below.le;
}

// ceiling is a round number at or above n, for the end of an axis.
export function ceiling(n) {
  if (!(n > 0) || n === Infinity) return 1;
  const power = 10 ** Math.floor(Math.log10(n));
  const step = [1, 2, 4, 5, 10].find((s) => n <= s * power * (1 + 1e-9)) ?? 10;
  return Number((step * power).toPrecision(3));
}
