// What a space says of the types of its threads, as the welcome tells it. Pure. Which
// kinds it expects in one is a hint for readers: nothing is refused for it.
import { clip, visible } from "../base/text.js";

const mostShown = 300; // characters of a list of kinds, or of a kind

// typeIn is what a space says of a type; undefined where it says nothing.
const typeIn = (space, type) => (typeof type === "string" ? space?.context_types?.[type] : undefined);

// ofThread is what is said of the thread of a row: what such are for, and that the row is
// unusual in it; each "" where that is nothing.
export function ofThread({ space, contexts }, row) {
  const type = contexts.get(row.context)?.type;
  return { about: about(space, type), unexpected: unexpected(space, type, row) };
}

// about says what threads of a type are for; "" where nothing is said of it.
export function about(space, type) {
  const { description } = typeIn(space, type) ?? {};
  return typeof description === "string" && description ? visible(clip(`${type}: ${description}`, mostShown)) : "";
}

// unexpected says that the kind of a row is none that its type expects; "" where it may
// be one. What answers something, or comes from the gateway, is expected everywhere.
export function unexpected(space, type, row) {
  const { kinds } = typeIn(space, type) ?? {};
  const patterns = Array.isArray(kinds) ? kinds.filter((k) => typeof k === "string") : [];
  if (!patterns.length || row.type === "answer" || row.answers || row.kind.startsWith("system/")) return "";
  if (patterns.some((pattern) => means(pattern, row.kind))) return "";
  return visible(`${clip(row.kind, mostShown)} is not among the kinds that ${type} expects: ${clip(patterns.join(", "), mostShown)}`);
}

// means reports whether a pattern may mean a kind: a part that one of them does not have
// stands against nothing, as the gateway takes the rest of a kind from the payload.
function means(pattern, kind) {
  const given = parts(kind);
  return parts(pattern).every((glob, i) => given[i] === undefined || fits(glob, given[i]));
}

// parts are TYPE, METHOD and SUBJECT, which may have colons of its own.
function parts(kind) {
  const [type, method, ...subject] = kind.split(":");
  return [type, ...(method === undefined ? [] : [method]), ...(subject.length ? [subject.join(":")] : [])];
}

// fits holds a text against a glob: * is any run of characters, \* a star. It goes
// through the text once.
function fits(glob, text) {
  const pieces = glob.split(/(?<!\\)\*/).map((piece) => piece.replaceAll("\\*", "*"));
  const [first] = pieces;
  if (pieces.length === 1) return text === first;
  const last = pieces.at(-1);
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let from = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const i = text.indexOf(piece, from);
    if (i < 0 || i + piece.length > end) return false;
    from = i + piece.length;
  }
  return true;
}
