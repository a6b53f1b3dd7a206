// Markdown as people and agents write it, as lit templates: paragraphs, headings, lists,
// quotes, code, emphasis and links. There is no HTML and there are no images. A link goes
// to http, https or mailto alone, and says where it leads. Each line of text stays one.
//
// Whoever wrote it may have meant harm: the time is in proportion to the length, and
// what is nested deeper than a few levels is text.
import { html, nothing } from "../vendor/lit-3.3.3.js";
import { clip, visible } from "./text.js";

const deepestBlock = 6;
const deepestInline = 6;
const mostTarget = 120; // characters of a link's target beside its text

export function markdown(text) {
  return html`<div class="markdown">${blocks(String(text).replace(/\r\n?/g, "\n").split("\n"), 0)}</div>`;
}

const fence = /^ {0,3}(`{3,}|~{3,})[^`]*$/;
const heading = /^ {0,3}(#{1,6})(?:\s+|$)(.*)/;
const rule = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const item = /^( {0,3})([-*+]|\d{1,9}[.)])(?: (.*)|$)/;
const quote = /^ {0,3}> ?(.*)/;
const table = /^ {0,3}\|/;

function blocks(lines, depth) {
  const out = [];
  for (let i = 0; i < lines.length; ) {
    const line = lines[i];
    if (!line.trim()) {
      i++;
      continue;
    }
    const begun = depth < deepestBlock && begin(lines, i, depth);
    if (begun) {
      out.push(begun.view);
      i = begun.next;
      continue;
    }
    const first = i++;
    while (i < lines.length && lines[i].trim() && !(depth < deepestBlock && starts(lines[i]))) i++;
    out.push(html`<p>${inline(lines.slice(first, i).map((l) => l.trim()).join("\n"))}</p>`);
  }
  return out;
}

const starts = (line) => fence.test(line) || heading.test(line) || rule.test(line) || item.test(line) || quote.test(line) || table.test(line);

// begin reads the block that begins at a line: {view, next}, undefined for a paragraph.
function begin(lines, i, depth) {
  const line = lines[i];
  let found;
  if ((found = fence.exec(line))) return code(lines, i, found[1]);
  if ((found = heading.exec(line))) return { view: html`<p class="h h${found[1].length}">${inline(found[2].replace(/\s#+\s*$/, ""))}</p>`, next: i + 1 };
  if (rule.test(line)) return { view: html`<hr>`, next: i + 1 };
  if (quote.test(line)) return quoted(lines, i, depth);
  if (item.test(line)) return list(lines, i, depth);
  if (table.test(line)) {
    const next = until(lines, i, (l) => !table.test(l));
    return { view: pre(lines.slice(i, next)), next };
  }
}

function until(lines, i, ends) {
  while (i < lines.length && !ends(lines[i])) i++;
  return i;
}

const pre = (lines) => html`<pre class="block"><code>${visible(lines.join("\n"))}</code></pre>`;

function code(lines, i, mark) {
  const end = until(lines, i + 1, (l) => l.trim().startsWith(mark) && l.trim().replaceAll(mark[0], "") === "");
  return { view: pre(lines.slice(i + 1, end)), next: end + 1 };
}

function quoted(lines, i, depth) {
  const next = until(lines, i, (l) => !quote.test(l));
  return { view: html`<blockquote>${blocks(lines.slice(i, next).map((l) => quote.exec(l)[1]), depth + 1)}</blockquote>`, next };
}

// list reads items of one sort. What is indented below one belongs to it.
function list(lines, i, depth) {
  const [, , mark] = item.exec(lines[i]);
  const numbered = /\d/.test(mark);
  const entries = [];
  while (i < lines.length) {
    const found = item.exec(lines[i]);
    if (!found || /\d/.test(found[2]) !== numbered) break;
    const inside = found[1].length + found[2].length + 1;
    const own = [found[3] ?? ""];
    for (i++; i < lines.length; i++) {
      const indent = lines[i].search(/\S/);
      const goesOn = indent < 0 ? lines[i + 1]?.search(/\S/) >= Math.min(inside, 2) && lines[i + 1].search(/\S/) > found[1].length : indent > found[1].length && indent >= Math.min(inside, 2);
      if (!goesOn) break;
      own.push(lines[i].slice(Math.min(inside, Math.max(indent, 0))));
    }
    entries.push(html`<li>${blocks(own, depth + 1)}</li>`);
    while (i < lines.length && !lines[i].trim() && item.test(lines[i + 1] ?? "")) i++;
  }
  const start = Number.parseInt(mark, 10);
  return { view: numbered ? html`<ol start=${start}>${entries}</ol>` : html`<ul>${entries}</ul>`, next: i };
}

// inline reads what stands within a paragraph.
function inline(text, depth = 0, inLink = false) {
  const out = [];
  const find = finder(text);
  let plain = "";
  const flush = () => {
    if (plain) out.push(lined(plain));
    plain = "";
  };
  const special = /[\\`*_~[<!]|https?:\/\//g;
  for (let i = 0; i < text.length; ) {
    special.lastIndex = i;
    const at = special.exec(text)?.index ?? text.length;
    plain += text.slice(i, at);
    i = at;
    if (i === text.length) break;
    const found = depth < deepestInline ? span(text, i, depth, inLink, find) : undefined;
    if (found) {
      flush();
      out.push(found.view);
      i = found.next;
    } else {
      const step = text[i] === "\\" && /[!-/:-@[-`{-~]/.test(text[i + 1] ?? "") ? 1 : 0;
      const run = text[i + step] === "`" && !step ? /^`+/.exec(text.slice(i, i + 1000))[0].length : 1;
      plain += text.slice(i + step, i + step + run);
      i += step + run;
    }
  }
  flush();
  return out;
}

// lined keeps the breaks between lines.
function lined(text) {
  return text.split("\n").map((line, n) => (n ? html`<br>${visible(line)}` : visible(line)));
}

// finder looks for where a mark stands next, and does not look twice where there is none.
function finder(text) {
  const known = new Map();
  return (mark, from) => {
    const last = known.get(mark);
    if (last && last.from <= from && (last.at < 0 || last.at >= from)) return last.at;
    const at = text.indexOf(mark, from);
    known.set(mark, { from, at });
    return at;
  };
}

function span(text, i, depth, inLink, find) {
  switch (text[i]) {
    case "`":
      return codeSpan(text, i, find);
    case "*":
    case "_":
    case "~":
      return emphasis(text, i, depth, inLink, find);
    case "!":
      return text[i + 1] === "[" && !inLink ? link(text, i + 1, depth, find) : undefined;
    case "[":
      return inLink ? undefined : link(text, i, depth, find);
    case "<":
      return inLink ? undefined : autolink(text, i, find);
    case "h":
      return inLink ? undefined : bare(text, i);
  }
}

function codeSpan(text, i, find) {
  let n = 1;
  while (text[i + n] === "`") n++;
  const mark = "`".repeat(n);
  for (let at = find(mark, i + n); at >= 0; at = find(mark, at)) {
    let end = at + n;
    while (text[end] === "`") end++;
    if (end - at === n) return { view: html`<code>${visible(text.slice(i + n, at).replace(/\n/g, " "))}</code>`, next: end };
    at = end;
  }
}

const isWord = (c) => c !== undefined && /[\p{L}\p{N}]/u.test(c);
const isSpace = (c) => c === undefined || /\s/.test(c);

function emphasis(text, i, depth, inLink, find) {
  const double = text[i + 1] === text[i];
  const mark = double ? text[i] + text[i] : text[i];
  if (mark === "~" || isSpace(text[i + mark.length]) || (text[i] === "_" && isWord(text[i - 1]))) return undefined;
  const tries = 8; // of marks that might end it
  for (let at = find(mark, i + mark.length + 1), n = 0; at >= 0 && n < tries; at = find(mark, at + 1), n++) {
    if (isSpace(text[at - 1]) || (text[i] === "_" && isWord(text[at + mark.length]))) continue;
    if (!double && (text[at - 1] === mark || text[at + 1] === mark)) continue; // a part of a double one
    const inner = inline(text.slice(i + mark.length, at), depth + 1, inLink);
    const view = text[i] === "~" ? html`<s>${inner}</s>` : double ? html`<strong>${inner}</strong>` : html`<em>${inner}</em>`;
    return { view, next: at + mark.length };
  }
}

// link reads [text](target), with or without a title.
function link(text, i, depth, find) {
  const middle = find("](", i + 1);
  if (middle < 0 || middle - i > 2000) return undefined;
  const found = /^\]\(\s*<?([^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*)>?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/.exec(text.slice(middle, middle + 4000));
  if (!found) return undefined;
  const words = text.slice(i + 1, middle);
  return { view: anchor(found[1], inline(words, depth + 1, true), words), next: middle + found[0].length };
}

function autolink(text, i, find) {
  const end = find(">", i);
  const target = end < 0 || end - i > 2000 ? "" : text.slice(i + 1, end);
  if (!/^(https?:\/\/|mailto:)[^\s<>]+$/i.test(target)) return undefined;
  return { view: anchor(target), next: end + 1 };
}

function bare(text, i) {
  const [found] = /^https?:\/\/[^\s<>"`*\[\]{}|\\^]+/.exec(text.slice(i, i + 2000)) ?? [""];
  const target = found.replace(/[.,;:!?'_~)]+$/, (end) => (end[0] === ")" && found.includes("(") ? ")" : ""));
  return target.length > 8 && !isWord(text[i - 1]) ? { view: anchor(target), next: i + target.length } : undefined;
}

// anchor is a link that says where it leads, whatever its words say.
function anchor(target, inner, words = target) {
  const href = safe(target);
  if (!href) return html`${inner ?? visible(target)}${inner ? html` <span class="quiet">(${visible(clip(target, mostTarget))})</span>` : nothing}`;
  const told = words === target || words === href ? nothing : html` <bdi class="target">${visible(clip(href.replace(/^mailto:/, ""), mostTarget))}</bdi>`;
  return html`<a href=${href} target="_blank" rel="noopener noreferrer">${inner === undefined || told === nothing ? visible(clip(href, 400)) : inner}</a>${told}`;
}

function safe(target) {
  if (!URL.canParse(target)) return "";
  const url = new URL(target);
  return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : "";
}
