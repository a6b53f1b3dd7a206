// What a value lacks by a JSON schema, roughly: enough to be told of a slip while
// one types. Whether a call is right is for the tool to say.
import { pathText } from "../base/json_text.js";

const mostHints = 8;
const mostDepth = 12;

// hints are sentences on where a value is not as its schema says.
export function hints(schema, value) {
  const said = [];
  check(schema, value, [], said);
  return said.slice(0, mostHints);
}

function check(schema, value, path, said) {
  if (!schema || typeof schema !== "object" || path.length > mostDepth || said.length >= mostHints) return;
  const where = path.length ? pathText(path) : "the whole";
  const types = [].concat(schema.type ?? []).filter((t) => typeof t === "string");
  if (types.length && !types.some((t) => isA(value, t))) {
    said.push(`${where} should be ${types.map(article).join(" or ")}, and is ${article(typeOf(value))}`);
    return;
  }
  if (Array.isArray(schema.enum) && schema.enum.every((v) => typeof v !== "object") && !schema.enum.includes(value)) {
    said.push(`${where} should be one of ${schema.enum.slice(0, 10).map((v) => JSON.stringify(v)).join(", ")}`);
  }
  if (typeOf(value) === "object") {
    const own = (o, name) => o && typeof o === "object" && Object.hasOwn(o, name);
    for (const name of Array.isArray(schema.required) ? schema.required : []) {
      if (typeof name === "string" && !own(value, name) && said.length < mostHints) said.push(`${pathText([...path, name])} is required, and is missing`);
    }
    for (const name of Object.keys(value)) {
      if (own(schema.properties, name)) check(schema.properties[name], value[name], [...path, name], said);
      else if (schema.additionalProperties === false && !schema.patternProperties && said.length < mostHints) said.push(`${pathText([...path, name])} is not known to the tool`);
    }
  } else if (Array.isArray(value) && schema.items && !Array.isArray(schema.items)) {
    for (let i = 0; i < Math.min(value.length, 1000); i++) check(schema.items, value[i], [...path, i], said);
  }
}

function isA(value, type) {
  if (type === "integer") return Number.isInteger(value);
  return typeOf(value) === type;
}

function typeOf(value) {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

const article = (type) => (type === "null" ? "null" : /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`);
