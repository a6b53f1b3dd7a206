// How one text becomes another, line by line. Pure.
const mostEdits = 1000; // beyond, all lines between the first and the last change count as changed
const around = 3; // unchanged lines that are shown beside a change

// diff is the lines of both texts in order, as {sign, text, a, b}: sign is " ", "-"
// or "+", and a and b are the line's numbers in either text, from 1.
export function diff(before, after) {
  const a = before.split("\n");
  const b = after.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const lines = [];
  const put = (sign, i, j) => lines.push({ sign, text: sign === "+" ? b[j] : a[i], a: sign === "+" ? undefined : i + 1, b: sign === "-" ? undefined : j + 1 });
  for (let i = 0; i < head; i++) put(" ", i, i);
  let [i, j] = [head, head];
  for (const sign of script(a.slice(head, a.length - tail), b.slice(head, b.length - tail))) {
    put(sign, i, j);
    if (sign !== "+") i++;
    if (sign !== "-") j++;
  }
  for (; i < a.length; i++, j++) put(" ", i, j);
  return lines;
}

// script is the shortest way from one list to another, after Myers: a sign for each
// line. Where it would be long it is simple instead.
function script(a, b) {
  const all = [..."-".repeat(a.length), ..."+".repeat(b.length)];
  if (!a.length || !b.length) return all;
  const most = Math.min(a.length + b.length, mostEdits);
  const reach = new Int32Array(2 * most + 3); // how far of a each diagonal has come
  const steps = [];
  const middle = most + 1;
  for (let d = 0; d <= most; d++) {
    steps.push(reach.slice(middle - d - 1, middle + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && reach[middle + k - 1] < reach[middle + k + 1]);
      let x = down ? reach[middle + k + 1] : reach[middle + k - 1] + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reach[middle + k] = x;
      if (x >= a.length && x - k >= b.length) return backwards(steps, a.length, b.length);
    }
  }
  return all;
}

function backwards(steps, x, y) {
  const signs = [];
  for (let d = steps.length - 1; d > 0; d--) {
    const reach = (k) => steps[d][k + d + 1];
    const k = x - y;
    const down = k === -d || (k !== d && reach(k - 1) < reach(k + 1));
    const from = down ? k + 1 : k - 1;
    const begun = reach(from); // where the step to this diagonal began
    while (x > begun + (down ? 0 : 1)) {
      signs.push(" ");
      x--;
    }
    signs.push(down ? "+" : "-");
    x = begun;
    y = x - from;
  }
  for (; x > 0; x--) signs.push(" ");
  return signs.reverse();
}

// hunks are the changes, each with the lines around it: {skipped, lines}, where
// skipped counts the unchanged lines left out before it; of the last, which has no
// lines, those at the end.
export function hunks(lines) {
  const kept = new Uint8Array(lines.length);
  lines.forEach((line, i) => {
    if (line.sign !== " ") kept.fill(1, Math.max(0, i - around), i + around + 1);
  });
  const all = [];
  let skipped = 0;
  for (let i = 0; i < lines.length; i++) {
    if (!kept[i]) {
      skipped++;
      continue;
    }
    if (!i || !kept[i - 1]) all.push({ skipped, lines: [] });
    skipped = 0;
    all.at(-1).lines.push(lines[i]);
  }
  if (skipped) all.push({ skipped, lines: [] });
  return all;
}

// paired gives each removed line the added one that stands in its place, as other,
// and the other way round.
export function paired(lines) {
  for (let i = 0; i < lines.length; ) {
    const from = i;
    while (lines[i]?.sign === "-") i++;
    const added = i;
    while (lines[i]?.sign === "+") i++;
    for (let n = 0; from + n < added && added + n < i; n++) {
      lines[from + n].other = lines[added + n].text;
      lines[added + n].other = lines[from + n].text;
    }
    if (i === from) i++;
  }
  return lines;
}

// parts cuts a line into what it begins with as another does, what is its own, and
// what it ends with as the other does.
export function parts(text, other) {
  let head = 0;
  while (head < text.length && text[head] === other[head]) head++;
  let tail = 0;
  const most = Math.min(text.length, other.length) - head;
  while (tail < most && text[text.length - 1 - tail] === other[other.length - 1 - tail]) tail++;
  // Neither within a pair of surrogates nor within an escape.
  if (/[\ud800-\udbff]/.test(text[head - 1] ?? "")) head--;
  const slash = /\\(?:u[0-9a-fA-F]{0,3})?$/.exec(text.slice(Math.max(0, head - 6), head));
  if (slash && /(?:^|[^\\])(?:\\\\)*\\(?:u[0-9a-fA-F]{0,3})?$/.test(text.slice(Math.max(0, head - 64), head))) head -= slash[0].length;
  if (/[\udc00-\udfff]/.test(text[text.length - tail] ?? "")) tail--;
  return [text.slice(0, head), text.slice(head, text.length - tail), text.slice(text.length - tail)];
}
