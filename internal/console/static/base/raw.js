// JSON as it was written. JSON.parse rounds big integers and forgets how strings
// were spelled; who approves a call has to see the bytes that will be sent. What
// comes here has been through the gateway's codec, so it is known to be JSON.

// at is the text of one value: the names of members and the indices of items
// lead to it. undefined where there is none.
export function at(text, ...path) {
  let i = space(text, 0);
  for (const step of path) {
    i = typeof step === "number" ? item(text, i, step) : member(text, i, step);
    if (i < 0) return undefined;
  }
  return text.slice(i, end(text, i));
}

// textAt is what a string says, "" where there is none.
export function textAt(text, ...path) {
  const raw = at(text, ...path);
  return raw?.startsWith('"') ? JSON.parse(raw) : "";
}

// items are the texts of an array's items.
export function items(text) {
  const all = [];
  if (!text?.startsWith("[")) return all;
  for (let i = space(text, 1); text[i] !== "]" && i < text.length; ) {
    const e = end(text, i);
    all.push(text.slice(i, e));
    i = space(text, e);
    if (text[i] === ",") i = space(text, i + 1);
  }
  return all;
}

// members are the names and the texts of an object's members, in their order:
// [name, value, the name as it is spelled].
export function members(text) {
  const all = [];
  let i = space(text, 0);
  if (text[i] !== "{") return all;
  for (i = space(text, i + 1); text[i] === '"'; ) {
    const e = endOfString(text, i);
    const spelled = text.slice(i, e);
    i = space(text, space(text, e) + 1); // over the colon
    const last = end(text, i);
    all.push([JSON.parse(spelled), text.slice(i, last), spelled]);
    i = space(text, last);
    if (text[i] === ",") i = space(text, i + 1);
  }
  return all;
}

// indent breaks compact JSON into lines and changes nothing else: every number
// and every string stays as it is spelled. Nesting is shown up to depth.
export function indent(text, depth = 40) {
  const out = [];
  let level = 0;
  const line = () => out.push("\n", "  ".repeat(Math.min(level, depth)));
  for (let i = space(text, 0); i < text.length; i = space(text, i)) {
    const c = text[i];
    if (c === "{" || c === "[") {
      const next = space(text, i + 1);
      if (text[next] === "}" || text[next] === "]") {
        out.push(c, text[next]);
        i = next + 1;
        continue;
      }
      out.push(c);
      level++;
      line();
      i++;
    } else if (c === "}" || c === "]") {
      level--;
      line();
      out.push(c);
      i++;
    } else if (c === ",") {
      out.push(c);
      line();
      i++;
    } else if (c === ":") {
      out.push(": ");
      i++;
    } else {
      const e = Math.max(end(text, i), i + 1);
      out.push(text.slice(i, e));
      i = e;
    }
  }
  return out.join("");
}

// space is where what stands at i begins, blanks aside.
export function space(text, i) {
  for (let c = text.charCodeAt(i); c === 32 || c === 10 || c === 13 || c === 9; ) c = text.charCodeAt(++i);
  return i;
}

// end is where the value that begins at i ends. It counts instead of calling
// itself: depth is the sender's to choose.
export function end(text, i) {
  if (text[i] === '"') return endOfString(text, i);
  if (text[i] !== "{" && text[i] !== "[") {
    while (i < text.length && !",]} \n\r\t:".includes(text[i])) i++;
    return i;
  }
  for (let depth = 0; i < text.length; ) {
    const c = text[i];
    if (c === '"') {
      i = endOfString(text, i);
      continue;
    }
    if (c === "{" || c === "[") depth++;
    if ((c === "}" || c === "]") && --depth === 0) return i + 1;
    i++;
  }
  return i;
}

function endOfString(text, i) {
  for (;;) {
    const quote = text.indexOf('"', i + 1);
    if (quote < 0) return text.length;
    let slashes = 0;
    while (text[quote - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return quote + 1;
    i = quote;
  }
}

function member(text, i, name) {
  if (text[i] !== "{") return -1;
  for (i = space(text, i + 1); text[i] === '"'; ) {
    const e = endOfString(text, i);
    const found = JSON.parse(text.slice(i, e)) === name;
    i = space(text, space(text, e) + 1); // over the colon
    if (found) return i;
    i = space(text, end(text, i));
    if (text[i] !== ",") return -1;
    i = space(text, i + 1);
  }
  return -1;
}

function item(text, i, index) {
  if (text[i] !== "[") return -1;
  for (i = space(text, i + 1); text[i] !== "]" && i < text.length; index--) {
    if (index === 0) return i;
    i = space(text, end(text, i));
    if (text[i] !== ",") return -1;
    i = space(text, i + 1);
  }
  return -1;
}
