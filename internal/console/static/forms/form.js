// The form that MCP's elicitation/create puts before a person: what is asked, which
// answers fit, and what is sent. It judges as internal/form does for the terminal, in
// the same words; a test holds the two against each other. Pure: no document, no
// network. Answers are JSON as text, so that every digit stays.
//
//	const form = parse(params)             // the text of params; throws a Refusal
//	check(form.fields[0], "12")            // "" or what is wrong with the answer
//	content(form, new Map([["n", "12"]]))  // {text} or {problems: Map}
import { items, members } from "../base/raw.js";
import { byteLength } from "../base/text.js";

const specification = "https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation";
const ambiguous = "it is no JSON that can be understood in one way only";

// What a form may hold, in bytes of UTF-8 where it is text.
const most = { params: 1 << 20, message: 64 << 10, fields: 1000, choices: 1000, name: 256, title: 1 << 10, description: 16 << 10, number: 128 };

// A Refusal says why something is no form.
export class Refusal extends Error {
  constructor(where, problem) {
    super(where ? `${where}: ${problem}` : problem);
  }
}

// parse reads the params of elicitation/create in mode "form"; see check for matches.
export function parse(params = "", matches) {
  if (byteLength(params) > most.params) throw new Refusal("", `the form is larger than ${most.params >> 10} KiB`);
  const ask = open(params, "");
  const mode = textOf(ask, "mode", most.title);
  if (ask.has("mode") && mode !== "form") throw new Refusal("", `elicitation in mode ${shown(mode)} is not known here: MCP has "form" and "url" (${specification}#elicitation-requests)`);
  const message = textOf(ask, "message", most.message);
  if (!ask.has("message")) throw new Refusal("", "there is no message that says what is asked");
  // Some servers leave the schema out where they only want a yes.
  return { message, fields: ask.has("requestedSchema") ? parseSchema(ask.get("requestedSchema"), matches) : [] };
}

// content is what is sent for answers, by the names of their fields: an object in the
// order of the form. What is optional may be missing; no default is put in its place.
export function content(form, answers, matches) {
  const problems = new Map();
  const parts = [];
  for (const field of form.fields) {
    const json = answers.get(field.name);
    const problem = json === undefined ? (field.required ? `expected ${expected(field)}, got nothing` : "") : check(field, json, matches);
    if (problem) problems.set(field.name, problem);
    else if (json !== undefined) parts.push(`${JSON.stringify(field.name)}:${json}`);
  }
  const known = new Set(form.fields.map((f) => f.name));
  for (const name of answers.keys()) if (!known.has(name)) problems.set(name, `there is no such field among the ${known.size} of the form`);
  return problems.size ? { problems } : { text: `{${parts.join(",")}}` };
}

// wholeObject are the keywords of JSON Schema that narrow an object as a whole,
// anyType those that narrow or replace what a type says: MCP's forms have neither.
const wholeObject = [
  "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "const", "enum", "dependentRequired", "dependentSchemas",
  "dependencies", "patternProperties", "propertyNames", "minProperties", "maxProperties", "unevaluatedProperties",
];
const anyType = ["$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "not", "if", "const"];

function parseSchema(raw, matches) {
  const s = open(raw, "requestedSchema");
  if (textOf(s, "type", most.title) !== "object") wrong(s, "type", `expected "object", got ${given(s, "type")}`);
  without(s, wholeObject);
  const required = textsOf(s, "required", most.fields, most.name);
  const fields = s.has("properties") ? parseFields(s.get("properties"), "requestedSchema.properties", matches) : [];
  const byName = new Map(fields.map((f) => [f.name, f]));
  for (const name of required) {
    if (!byName.has(name)) wrong(s, "required", `there is no field ${shown(name)}`);
    byName.get(name).required = true;
  }
  return fields;
}

function parseFields(raw, at, matches) {
  if (raw[0] !== "{") throw new Refusal(at, `expected an object, got ${kindInWords(raw)}`);
  const all = members(raw);
  if (new Set(all.map(([name]) => name)).size < all.length) throw new Refusal(at, ambiguous);
  return all.map(([name, schema], i) => {
    if (i === most.fields) throw new Refusal(at, `there are more than ${most.fields} fields`);
    if (byteLength(name) > most.name) throw new Refusal(at, `the name of a field is longer than ${most.name} bytes`);
    return parseField(name, schema, `${at}[${shown(name)}]`, matches);
  });
}

// A field is {name, title, description, kind, required, default}, and by its kind
// format, pattern, minLength, maxLength; minimum, maximum; choices, minItems, maxItems.
// Kinds are "text", "number", "integer", "yes or no", "one choice" and "choices".
function parseField(name, raw, at, matches) {
  const o = open(raw, at);
  const field = { name, title: textOf(o, "title", most.title), description: textOf(o, "description", most.description), required: false };
  without(o, anyType);
  parseType(field, o);
  // Null is how some generators of schemas say that there is nothing.
  const suggested = o.get("default");
  if (suggested !== undefined && suggested !== "null") {
    const problem = check(field, suggested, matches);
    if (problem) wrong(o, "default", problem);
    field.default = suggested;
  }
  return field;
}

function parseType(field, o) {
  const type = textOf(o, "type", most.title);
  switch (type) {
    case "string":
      return parseString(field, o);
    case "number":
    case "integer":
      field.kind = type;
      return parseNumber(field, o);
    case "boolean":
      field.kind = "yes or no";
      return without(o, ["enum", "oneOf"]);
    case "array":
      field.kind = "choices";
      return parseMany(field, o);
    case "object":
      wrong(o, "type", `an object inside of a form cannot be filled in: MCP's forms are flat (${specification}#requested-schema)`);
  }
  wrong(o, "type", `expected "string", "number", "integer", "boolean" or "array", got ${given(o, "type")}`);
}

function parseString(field, o) {
  if (o.has("enum") || o.has("oneOf")) {
    field.kind = "one choice";
    return parseOne(field, o);
  }
  field.kind = "text";
  field.format = textOf(o, "format", most.title);
  if (field.format && !(field.format in formats)) wrong(o, "format", `expected "email", "uri", "date" or "date-time", got ${shown(field.format)}`);
  field.pattern = textOf(o, "pattern", most.description);
  field.minLength = countOf(o, "minLength");
  field.maxLength = countOf(o, "maxLength");
  ordered(o, "minLength", field.minLength, field.maxLength);
}

function parseNumber(field, o) {
  without(o, ["enum", "oneOf", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]);
  field.minimum = numberOf(o, "minimum");
  field.maximum = numberOf(o, "maximum");
  if (field.minimum && field.maximum && compare(field.minimum, field.maximum) > 0) wrong(o, "minimum", `${field.minimum} is above the upper bound, ${field.maximum}`);
}

// parseOne reads a choice: with titles in oneOf, or in enumNames as older servers
// have them, or without.
function parseOne(field, o) {
  if (o.has("oneOf")) {
    without(o, ["enum"]);
    field.choices = titled(o, "oneOf");
    return;
  }
  field.choices = untitled(o);
  const names = textsOf(o, "enumNames", most.choices, most.title);
  if (o.has("enumNames") && names.length !== field.choices.length) wrong(o, "enumNames", `there are ${names.length} names for ${counted(field.choices.length, "choice")}`);
  names.forEach((name, i) => (field.choices[i].title = name));
}

function parseMany(field, o) {
  without(o, ["enum", "oneOf", "prefixItems", "contains", "unevaluatedItems"]);
  field.choices = parseItems(open(o.get("items") ?? "", o.at + ".items"));
  field.minItems = countOf(o, "minItems");
  field.maxItems = countOf(o, "maxItems");
  if (field.minItems > field.choices.length) wrong(o, "minItems", `${field.minItems} are wanted of ${counted(field.choices.length, "choice")}`);
  ordered(o, "minItems", field.minItems, field.maxItems);
}

function parseItems(o) {
  if (o.has("anyOf")) {
    without(o, ["enum", "oneOf", "$ref", "allOf", "not", "if", "const"]);
    return titled(o, "anyOf");
  }
  without(o, anyType);
  if (textOf(o, "type", most.title) !== "string" || !o.has("enum")) {
    throw new Refusal(o.at, "expected an enum of strings, or anyOf with a const and a title each: a list of anything else cannot be filled in");
  }
  return untitled(o);
}

function untitled(o) {
  return distinct(o, "enum", textsOf(o, "enum", most.choices, most.title).map((value) => ({ value, title: "" })));
}

function titled(o, keyword) {
  const choices = listOf(o, keyword, most.choices).map((raw) => {
    const entry = open(raw, `${o.at}.${keyword}`);
    if (!entry.has("const")) throw new Refusal(entry.at, `an alternative without a const is no choice: MCP's have a const and a title each (${specification}#requested-schema)`);
    return { value: textOf(entry, "const", most.title), title: textOf(entry, "title", most.title) };
  });
  return distinct(o, keyword, choices);
}

function distinct(o, keyword, choices) {
  if (!choices.length) wrong(o, keyword, "there is nothing to choose from");
  const seen = new Set();
  for (const { value } of choices) {
    if (seen.has(value)) wrong(o, keyword, `${shown(value)} is given twice`);
    seen.add(value);
  }
  return choices;
}

// What follows reads parts of a request: a Map of raw values, with the place that
// they stand at.

function open(raw, at) {
  if (raw[0] !== "{") throw new Refusal(at, `expected an object, got ${kindInWords(raw)}`);
  const all = members(raw);
  const o = new Map(all);
  if (o.size < all.length) throw new Refusal(at, ambiguous);
  o.at = at;
  return o;
}

function wrong(o, member, problem) {
  throw new Refusal(o.at ? `${o.at}.${member}` : member, problem);
}

function without(o, keywords) {
  const found = keywords.find((k) => o.has(k));
  if (found) wrong(o, found, `MCP's forms have no such thing: their fields are strings, numbers, booleans and choices (${specification}#requested-schema)`);
}

function given(o, name) {
  const raw = o.get(name);
  if (raw === undefined) return "nothing";
  return raw[0] === '"' ? shown(JSON.parse(raw)) : kindInWords(raw);
}

function textOf(o, name, bytes) {
  return o.has(name) ? asText(o, name, o.get(name), bytes) : "";
}

function asText(o, name, raw, bytes) {
  if (raw[0] !== '"') wrong(o, name, `expected a string, got ${kindInWords(raw)}`);
  const text = JSON.parse(raw);
  if (byteLength(text) > bytes) wrong(o, name, `longer than ${bytes} bytes`);
  return text;
}

function listOf(o, name, at) {
  const raw = o.get(name);
  if (raw === undefined) return [];
  if (raw[0] !== "[") wrong(o, name, `expected a list, got ${kindInWords(raw)}`);
  const all = items(raw);
  if (all.length > at) wrong(o, name, `there are more than ${at}`);
  return all;
}

function textsOf(o, name, count, bytes) {
  return listOf(o, name, count).map((raw) => asText(o, name, raw, bytes));
}

const largest = 2n ** 63n - 1n;

// countOf is a whole number of at least zero.
function countOf(o, name) {
  const raw = o.get(name);
  if (raw === undefined) return undefined;
  const digits = raw.replace(/\.0$/, "");
  const n = /^-?\d+$/.test(digits) && digits.length < 30 ? BigInt(digits) : -1n;
  if (n < 0n || n > largest) wrong(o, name, `expected a whole number of at least 0, got ${/^[-\d]/.test(raw) && raw.length <= most.number ? raw : kindInWords(raw)}`);
  return n;
}

function numberOf(o, name) {
  const raw = o.get(name);
  if (raw === undefined) return undefined;
  if (!/^[-\d]/.test(raw)) wrong(o, name, `expected a number, got ${kindInWords(raw)}`);
  if (raw.length > most.number) wrong(o, name, `the number has more than ${most.number} characters`);
  return raw;
}

function ordered(o, member, low, high) {
  if (low !== undefined && high !== undefined && low > high) wrong(o, member, `${low} is above the upper bound, ${high}`);
}

// check is what is wrong with an answer, "" where it fits. Whether a text matches a
// pattern is asked of matches(pattern, text): patterns are somebody else's programs.
export function check(field, json, matches = () => true) {
  const firsts = { text: '"', "one choice": '"', choices: "[", "yes or no": "tf", number: "-0123456789", integer: "-0123456789" };
  if (!json || !firsts[field.kind].includes(json[0])) return `expected ${expected(field)}, got ${kindInWords(json)}`;
  switch (field.kind) {
    case "text":
      return checkText(field, JSON.parse(json), matches);
    case "number":
    case "integer":
      return checkNumber(field, json);
    case "one choice":
      return checkChoice(field, JSON.parse(json));
    case "choices":
      return checkMany(field, json);
  }
  return "";
}

function checkText(field, text, matches) {
  const { minLength = 0n, maxLength = largest } = field;
  const n = [...text].length;
  if (n < minLength || n > maxLength) return `expected ${expected(field)}, got ${counted(n, "character")}`;
  const fits = (!field.format || formats[field.format].fits(text)) && (!field.pattern || matches(field.pattern, text));
  return fits ? "" : unfit(field, text);
}

// unfit says that a text does not have the format, or does not match the pattern.
export function unfit(field, text) {
  return `expected ${expected(field)}, got ${shown(text)}`;
}

function checkNumber(field, json) {
  if (json.length > most.number) return `a number has at most ${most.number} characters here`;
  const fits = !(field.kind === "integer" && !isWhole(json)) && !(field.minimum && compare(json, field.minimum) < 0) && !(field.maximum && compare(json, field.maximum) > 0);
  return fits ? "" : `expected ${expected(field)}, got ${json}`;
}

function checkChoice(field, value) {
  return field.choices.some((c) => c.value === value) ? "" : `${shown(value)} is none of the choices`;
}

function checkMany(field, json) {
  const chosen = new Set();
  for (const raw of items(json)) {
    if (raw[0] !== '"') return `expected ${expected(field)}, got ${kindInWords(raw)} among them`;
    const value = JSON.parse(raw);
    const problem = checkChoice(field, value);
    if (problem) return problem;
    if (chosen.has(value)) return `${shown(value)} is chosen twice`;
    chosen.add(value);
  }
  const { minItems = 0n, maxItems = largest } = field;
  return chosen.size < minItems || chosen.size > maxItems ? `expected ${expected(field)}, got ${chosen.size}` : "";
}

const formats = {
  email: { words: "an e-mail address", fits: isEmail },
  uri: { words: "a URI such as https://example.com/a", fits: isURI },
  date: { words: "a date such as 2026-03-31", fits: isDate },
  "date-time": { words: "a time such as 2026-03-31T15:04:05Z", fits: isDateTime },
};
Object.setPrototypeOf(formats, null);

const atom = /^[^\u0000-\u0020\u007f()<>[\]:;@\\,".]+(\.[^\u0000-\u0020\u007f()<>[\]:;@\\,".]+)*$/;

// isEmail is an address of RFC 5322 without a name, comment or quotes.
function isEmail(text) {
  const at = text.lastIndexOf("@");
  const domain = text.slice(at + 1);
  const literal = /^\[([0-9.]+|[0-9a-fA-F:.]+)\]$/.exec(domain);
  return at > 0 && atom.test(text.slice(0, at)) && (atom.test(domain) || (literal !== null && isAddress(literal[1])));
}

function isAddress(text) {
  if (/^(\d{1,3}\.){3}\d{1,3}$/.test(text)) return text.split(".").every((n) => Number(n) < 256 && String(Number(n)) === n);
  return isIPv6(text);
}

function isIPv6(text) {
  if (!/^[0-9a-fA-F:.]+$/.test(text)) return false;
  return URL.canParse(`ws://[${text}]/`);
}

// isURI is an absolute URI of RFC 3986, as Go's net/url reads it.
function isURI(text) {
  const parts = /^[a-zA-Z][a-zA-Z0-9+.-]*:([^?#]*)(\?[^#]*)?(#.*)?$/.exec(text);
  if (!parts || !/^[!#-;=?-Z[\]_a-z~]+$/.test(text)) return false;
  const [, rest, , fragment = ""] = parts;
  if (!isEscaped(fragment)) return false;
  if (!rest.startsWith("/")) return true; // it is opaque
  if (!rest.startsWith("//")) return isEscaped(rest);
  const [, authority, path] = /^\/\/([^/]*)(.*)$/.exec(rest);
  const at = authority.lastIndexOf("@");
  const user = at < 0 ? "" : authority.slice(0, at);
  return /^[a-zA-Z0-9._:~!$&'()*+,;=%@-]*$/.test(user) && isEscaped(user) && isHost(authority.slice(at + 1), /^https?:/i.test(text)) && isEscaped(path);
}

const isEscaped = (text) => !/%(?![0-9a-fA-F]{2})/.test(text);

function isHost(text, web) {
  if (text.includes("[")) {
    const parts = /^\[([0-9a-fA-F:.]+)(%25(?:[a-zA-Z0-9._~-]|%[0-9a-fA-F]{2})+)?\](:\d*)?$/.exec(text);
    return parts !== null && isIPv6(parts[1]);
  }
  const port = web ? text.indexOf(":") : text.lastIndexOf(":");
  if (port >= 0 && !/^:\d*$/.test(text.slice(port))) return false;
  return /^([!$&'()*+,.0-9:;=A-Z\]_a-z~-]|%25|%[89a-fA-F][0-9a-fA-F])*$/.test(text);
}

function isDate(text) {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  return parts !== null && isDay(...parts.slice(1).map(Number));
}

function isDay(year, month, day) {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return day >= 1 && day <= (days[month - 1] ?? 0);
}

function isDateTime(text) {
  const parts = /^(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,]\d+)?(?:Z|[+-](\d\d):(\d\d))$/.exec(text);
  if (!parts) return false;
  const [, year, month, day, hour, minute, second, zoneHour = 0, zoneMinute = 0] = parts.map(Number);
  return isDay(year, month, day) && hour < 24 && minute < 60 && second < 60 && !(zoneHour > 24) && !(zoneMinute > 60);
}

// label is what to call a field or a choice.
export const label = (one) => one.title || (one.name ?? one.value);

// expected is what an answer has to be, in words, such as "an integer from 1 to 9".
export function expected(field) {
  switch (field.kind) {
    case "integer":
      return "an integer" + bounds(field);
    case "number":
      return "a number" + bounds(field);
    case "yes or no":
      return "yes or no";
    case "one choice":
      return "one of " + counted(field.choices.length, "choice");
    case "choices":
      return `${span(field.minItems, field.maxItems) || "any number"} of ${counted(field.choices.length, "choice")}`;
  }
  let words = field.format ? formats[field.format].words : "a text";
  const n = span(field.minLength, field.maxLength);
  if (n) words += ` of ${n} character${` ${n}`.endsWith(" 1") ? "" : "s"}`;
  if (field.pattern) words += " that matches " + shown(field.pattern);
  return words;
}

function bounds({ minimum, maximum }) {
  if (minimum && maximum) return ` from ${minimum} to ${maximum}`;
  if (minimum) return ` of at least ${minimum}`;
  return maximum ? ` of at most ${maximum}` : "";
}

function span(least, most) {
  if (least === 0n) least = undefined;
  if (least !== undefined && most !== undefined) return least === most ? `${least}` : `${least} to ${most}`;
  if (least !== undefined) return `at least ${least}`;
  return most !== undefined ? `at most ${most}` : "";
}

const counted = (n, one) => (n === 1 ? `1 ${one}` : `${n} ${one}s`);

// readNumber makes JSON of a number as a person types it, which may have a plus, zeros
// in front, and a decimal point without one: {json} or {problem}.
export function readNumber(field, typed) {
  const text = typed.trim();
  const negative = text.startsWith("-");
  let s = text.replace(negative ? /^-/ : /^\+/, "").replace(/^0+/, "");
  if (!/^\d/.test(s)) s = "0" + s;
  if (negative) s = "-" + s;
  const first = text.replace(/^[+-]+/, "");
  if (!/^[.\d]/.test(first) || !/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(s)) return { problem: unfit(field, text) };
  if (field.kind === "integer" && /[.eE]/.test(s)) return { problem: `expected ${expected(field)} in digits alone, got ${shown(text)}` };
  return { json: s };
}

// decimal is a number of JSON by its exact value: ±0.DIGITS × 10^exponent. Whoever
// writes 1e999999 gets no memory for it.
function decimal(json) {
  const negative = json.startsWith("-");
  const [mantissa, power = "0"] = json.slice(negative ? 1 : 0).toLowerCase().split("e");
  const [whole, fraction = ""] = mantissa.split(".");
  const digits = (whole + fraction).replace(/^0+/, "");
  if (!digits) return { sign: 0, digits: "", exponent: 0n };
  const zeros = whole.length + fraction.length - digits.length;
  return { sign: negative ? -1 : 1, digits: digits.replace(/0+$/, ""), exponent: BigInt(power.replace("+", "")) + BigInt(whole.length - zeros) };
}

function isWhole(json) {
  const d = decimal(json);
  return d.exponent >= d.digits.length;
}

function compare(a, b) {
  const [x, y] = [decimal(a), decimal(b)];
  if (x.sign !== y.sign) return x.sign - y.sign;
  const larger = x.exponent !== y.exponent ? (x.exponent > y.exponent ? 1 : -1) : x.digits === y.digits ? 0 : x.digits > y.digits ? 1 : -1;
  return x.sign * larger;
}

function kindInWords(json = "") {
  const kinds = { "{": "an object", "[": "a list", '"': "a string", t: "true or false", f: "true or false", n: "null" };
  return json === "" ? "nothing" : (kinds[json[0]] ?? "a number");
}

const mostShown = 80; // bytes
const escapes = { "\u0007": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", "\\": "\\\\", '"': '\\"' };

// shown is what somebody wrote, quoted so that it is harmless, and cut.
export function shown(text) {
  let out = "";
  let n = 0;
  for (const c of text) {
    n += byteLength(c);
    if (n > mostShown) return `"${out}…"`;
    out += escapes[c] ?? (/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(c) ? c : escaped(c.codePointAt(0)));
  }
  return `"${out}"`;
}

function escaped(code) {
  const hex = code.toString(16);
  if (code < 0x80) return "\\x" + hex.padStart(2, "0");
  return code > 0xffff ? "\\U" + hex.padStart(8, "0") : "\\u" + hex.padStart(4, "0");
}
