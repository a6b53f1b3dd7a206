// JSON that somebody writes: what is wrong with it and where, and how two texts
// differ as values. Like raw.js it leaves numbers and strings as they are spelled.
import { end, items, members, space } from "./raw.js";

// problem is the first thing that keeps a text from being JSON that the gateway
// takes, as {at, message}; undefined where there is none. It counts instead of
// calling itself, and goes through the text once.
export function problem(text, depth = 100) {
  const open = []; // of each object that is open its names; of an array undefined
  let i = space(text, 0);
  const fault = (message, at = i) => ({ at, message });
  const name = () => {
    if (text[i] !== '"') return fault('a name in double quotes is expected');
    const [after, wrong] = string(text, i);
    if (wrong) return wrong;
    const names = open.at(-1);
    const given = JSON.parse(text.slice(i, after));
    if (names.has(given)) return fault("this name stands twice in one object");
    names.add(given);
    i = space(text, after);
    if (text[i] !== ":") return fault("a colon is expected");
    i = space(text, i + 1);
  };
  for (;;) {
    const c = text[i];
    if (c === "{" || c === "[") {
      if (open.length === depth) return fault(`this is nested more than ${depth} deep`);
      const begun = i;
      i = space(text, i + 1);
      if (text[i] === (c === "{" ? "}" : "]")) {
        i++;
      } else {
        open.push(c === "{" ? new Set() : undefined);
        const wrong = c === "{" && name();
        if (i >= text.length) return fault(`this ${c === "{" ? "brace" : "bracket"} is never closed`, begun);
        if (wrong) return wrong;
        continue;
      }
    } else if (c === '"') {
      const [after, wrong] = string(text, i);
      if (wrong) return wrong;
      i = after;
    } else {
      const e = scalar(text, i);
      if (e < 0) return fault(i < text.length ? notAValue(text, i) : "a value is expected");
      i = e;
    }
    const more = afterValue();
    if (more !== true) return more;
  }

  // afterValue goes on to the next value, which true announces.
  function afterValue() {
    for (;;) {
      i = space(text, i);
      if (!open.length) return i < text.length ? fault("nothing may follow here") : undefined;
      const names = open.at(-1);
      const close = names ? "}" : "]";
      if (text[i] === ",") {
        i = space(text, i + 1);
        if (text[i] === close) return fault("no comma may stand before " + close, i);
        return (names && name()) || true;
      }
      if (text[i] !== close) return fault(`a comma or ${close} is expected`);
      open.pop();
      i++;
    }
  }
}

const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const word = /(?:true|false|null)(?![\w.])/y;

function scalar(text, i) {
  for (const pattern of [number, word]) {
    pattern.lastIndex = i;
    if (pattern.test(text)) return /[\w.]/.test(text[pattern.lastIndex] ?? "") ? -1 : pattern.lastIndex;
  }
  return -1;
}

function notAValue(text, i) {
  if (text[i] === "'" || text[i] === "“") return "strings stand in double quotes";
  if (/[-+.0-9]/.test(text[i])) return "this is not a number as JSON writes it";
  return "a value is expected: a string in double quotes, a number, true, false, null, { or [";
}

// string is where the string that begins at i ends, or what is wrong with it.
function string(text, i) {
  for (let j = i + 1; j < text.length; j++) {
    const c = text.charCodeAt(j);
    if (c === 34) return [j + 1];
    if (c < 32) return [0, { at: j, message: c === 10 ? "this string is not closed on its line; write a break of the line as \\n" : "a control character has to be escaped" }];
    let unit = c;
    if (c === 92) {
      j++;
      if (text[j] === "u") {
        const hex = text.slice(j + 1, j + 5);
        if (!/^[0-9a-fA-F]{4}$/.test(hex)) return [0, { at: j - 1, message: "\\u needs four hexadecimal digits" }];
        unit = parseInt(hex, 16);
        j += 4;
      } else if (!'"\\/bfnrt'.includes(text[j] ?? " ")) {
        return [0, { at: j - 1, message: "there is no such escape; a backslash itself is \\\\" }];
      } else {
        unit = 0;
      }
    }
    if (unit < 0xd800 || unit > 0xdfff) continue;
    const low = /^(?:[\udc00-\udfff]|\\u[dD][c-fC-F][0-9a-fA-F]{2})/.exec(text.slice(j + 1, j + 7));
    if (unit > 0xdbff || !low) return [0, { at: j, message: "half of a surrogate pair stands alone here" }];
    j += low[0].length;
  }
  return [0, { at: i, message: "this string is never closed" }];
}

// place is a position as people count: the line and the column, from 1.
export function place(text, at) {
  const before = text.slice(0, at);
  return { line: before.split("\n").length, column: at - before.lastIndexOf("\n") };
}

// compact leaves out the blanks between values, and nothing else.
export function compact(text) {
  const out = [];
  for (let i = space(text, 0); i < text.length; i = space(text, i)) {
    const e = '{}[],:'.includes(text[i]) ? i + 1 : Math.max(end(text, i), i + 1);
    out.push(text.slice(i, e));
    i = e;
  }
  return out.join("");
}

// withMember is an object's text with another value of one member, which is added
// where there is none. All else stays as it is written.
export function withMember(text, name, value) {
  let i = space(text, space(text, 0) + 1);
  const empty = text[i] === "}";
  while (text[i] === '"') {
    const e = end(text, i);
    const from = space(text, space(text, e) + 1);
    const to = end(text, from);
    if (JSON.parse(text.slice(i, e)) === name) return text.slice(0, from) + value + text.slice(to);
    i = space(text, to);
    if (text[i] === ",") i = space(text, i + 1);
  }
  return text.slice(0, i) + (empty ? "" : ",") + JSON.stringify(name) + ":" + value + text.slice(i);
}

// differences are the places where two texts differ as values, at most so many, as
// {path, a, b}; a or b is undefined where there is nothing. Numbers count by their
// exact value, so that 1 is 1.0.
export function differences(a, b, most = 4) {
  const found = [];
  const walk = (a, b, path) => {
    if (a === b || found.length >= most) return;
    if (a?.[0] === "{" && b?.[0] === "{") {
      const [left, right] = [new Map(members(a)), new Map(members(b))];
      for (const name of new Set([...left.keys(), ...right.keys()])) walk(left.get(name), right.get(name), [...path, name]);
    } else if (a?.[0] === "[" && b?.[0] === "[") {
      const [left, right] = [items(a), items(b)];
      for (let i = 0; i < Math.max(left.length, right.length) && found.length < most; i++) walk(left[i], right[i], [...path, i]);
    } else if (a === undefined || b === undefined || !sameScalar(a, b)) {
      found.push({ path, a, b });
    }
  };
  walk(a, b, []);
  return found;
}

function sameScalar(a, b) {
  if (a[0] === '"' && b[0] === '"') return JSON.parse(a) === JSON.parse(b);
  return /^[-0-9]/.test(a) && /^[-0-9]/.test(b) && exact(a) === exact(b);
}

// exact is the same text for the same number: its digits, and the power of ten.
function exact(text) {
  const [, sign, whole, part = "", power = "0"] = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(text);
  const digits = (whole + part).replace(/^0+/, "");
  const kept = digits.replace(/0+$/, "");
  if (!kept) return "0";
  return `${sign}${kept}e${BigInt(power.replace("+", "")) - BigInt(part.length) + BigInt(digits.length - kept.length)}`;
}

// pathText is a path as people write it: arguments.list[0].
export function pathText(path) {
  return path.map((step, i) => (typeof step === "number" ? `[${step}]` : /^[A-Za-z_$][\w$]*$/.test(step) ? (i ? "." : "") + step : `[${JSON.stringify(step)}]`)).join("");
}
