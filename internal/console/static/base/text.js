// Text from participants, made safe to look at. It is only ever put into text
// nodes, so it cannot become markup; what is left is text that lies to the eye.

// Characters that show nothing, or that change how their neighbours show.
const hidden =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\u{e0000}-\u{e0fff}]/gu;
const emojiBefore = /\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?$/u;

// Marks above and below a letter, more than any language has: they cover other lines.
const flood = /(\p{M}{8})(\p{M}+)/gu;

// visible writes each of them as its code point, ⟨U+202E⟩. Joiners inside an
// emoji stay: people write these, and they deceive nobody.
export function visible(text) {
  return reveal(text, (c) => "⟨U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩")
    .replace(flood, (_, kept, more) => `${kept}⟨+${[...more].length} marks⟩`);
}

// escaped writes them as JSON's own escapes, within JSON: its values stay the same.
export function escaped(json) {
  return reveal(json, (c) => Array.from({ length: c.length }, (_, i) => "\\u" + c.charCodeAt(i).toString(16).padStart(4, "0")).join(""));
}

function reveal(text, write) {
  return String(text).replace(hidden, (c, at, whole) => {
    if ((c === "\ufe0f" || c === "\u200d") && emojiBefore.test(whole.slice(Math.max(0, at - 6), at))) return c;
    return write(c);
  });
}

// oneLine is visible text for a row: a break of the line is a sign, not a break.
export function oneLine(text) {
  return visible(text.replace(/\r\n|\n|\r/g, " ⏎ ").replace(/\t/g, " "));
}

// clip cuts at most units of UTF-16, and says how many it left out. It makes a
// string of its own: a slice would keep the whole in memory.
export function clip(text, most) {
  if (text.length <= most) return text;
  let end = most;
  if (text.charCodeAt(end - 1) >= 0xd800 && text.charCodeAt(end - 1) < 0xdc00) end--; // not within a pair
  return JSON.parse(JSON.stringify(text.slice(0, end))) + `… (${(text.length - end).toLocaleString("en")} more)`;
}

const bytes = new TextEncoder();

export function byteLength(text) {
  return bytes.encode(text).length;
}

export function size(n) {
  if (n < 1000) return n === 1 ? "1 byte" : `${n} bytes`;
  if (n < 1e6) return `${(n / 1e3).toFixed(1)} kB`;
  if (n < 1e9) return `${(n / 1e6).toFixed(1)} MB`;
  return `${(n / 1e9).toFixed(1)} GB`;
}

// counted is a number and what there are so many of: one of them, or several.
export function counted(n, one, several = one + "s") {
  return `${n.toLocaleString("en")} ${n === 1 ? one : several}`;
}

export function clock(ts) {
  const d = new Date(ts);
  if (Number.isNaN(d.getTime())) return "";
  return d.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
}

export function ago(ts, now) {
  const s = Math.round((now - new Date(ts).getTime()) / 1000);
  if (Number.isNaN(s)) return "";
  if (s < 0) return "in " + span(-s);
  return s < 5 ? "just now" : span(s) + " ago";
}

function span(s) {
  if (s < 90) return `${s} s`;
  if (s < 90 * 60) return `${Math.round(s / 60)} min`;
  if (s < 36 * 3600) return `${Math.round(s / 3600)} h`;
  return `${Math.round(s / 86400)} days`;
}

// sentence makes a text one, so that another can follow. A command stays as it is typed.
export function sentence(text) {
  const begun = /^parley /.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return ended(begun);
}

export function ended(text) {
  return /(^|[.!?…])$/.test(text) ? text : text + ".";
}

// stamp is a time with its day, where that is not today's.
export function stamp(ts) {
  const d = new Date(ts);
  if (Number.isNaN(d.getTime())) return "";
  const tomorrow = new Date();
  tomorrow.setDate(tomorrow.getDate() + 1);
  if (d.toDateString() === tomorrow.toDateString()) return `tomorrow ${clock(ts)}`;
  const day = d.toDateString() === new Date().toDateString() ? "" : d.toLocaleDateString([], { year: "numeric", month: "short", day: "numeric" }) + " ";
  return day + clock(ts);
}

// lasted is a length of time in milliseconds, as one would say it.
export function lasted(ms) {
  if (!(ms >= 0)) return "";
  if (ms < 1) return "less than 1 ms";
  if (ms < 95) return `${Math.round(ms)} ms`;
  if (ms < 9950) return `${(ms / 1000).toFixed(1)} s`;
  return span(Math.round(ms / 1000));
}
