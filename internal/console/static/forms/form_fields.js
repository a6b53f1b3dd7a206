// The fields of a form as the browser's own controls, and what stands in them.
//
// Controls keep what was typed themselves: a template gives them what they begin with
// and nothing later.
import { html, nothing } from "../vendor/lit-3.3.3.js";
import { expected, label, readNumber } from "./form.js";
import { items } from "../base/raw.js";
import { clip, visible } from "../base/text.js";

const fewChoices = 6; // are radio buttons
const shortText = 200; // characters that one line is for
const mostDescription = 4000; // characters shown of it
const longDescription = 400; // characters that are scrolled
const mostName = 200; // characters of a title or of a choice

// mostChoices is how many of a form can be drawn without the page standing still.
export const mostChoices = 5000;

// fieldView draws the field number i, with what is wrong with its answer.
export function fieldView(field, i, problem) {
  const id = `field-${i}`;
  const said = terms(field);
  const about = [field.description && `${id}-about`, said && `${id}-terms`, problem && `${id}-problem`].filter(Boolean).join(" ") || nothing;
  const notes = html`
    ${field.description ? html`<p class="about bounded" id="${id}-about" tabindex=${field.description.length > longDescription ? "0" : nothing}>${visible(clip(field.description, mostDescription))}</p>` : nothing}
    ${unseenIn(field) ? html`<p class="warning" role="note">What is suggested holds characters that cannot be seen: <bdi class="code">${visible(clip(JSON.parse(field.default), mostName))}</bdi></p>` : nothing}
    ${said ? html`<p class="quiet small" id="${id}-terms">${visible(said)}</p>` : nothing}`;
  const trouble = problem ? html`<p class="wrong" id="${id}-problem"><span aria-hidden="true">→</span> ${visible(problem)}</p>` : nothing;
  const given = { id, about, invalid: problem ? "true" : nothing };
  if (isGroup(field)) {
    return html`
      <fieldset class="field" data-field=${i} aria-describedby=${about} aria-invalid=${problem && field.kind !== "choices" ? "true" : nothing} role=${field.kind === "choices" ? nothing : "radiogroup"} aria-required=${field.required && field.kind !== "choices" ? "true" : nothing}>
        <legend>${name(field)}</legend>${notes}<div class="options">${options(field, id)}</div>${trouble}
      </fieldset>`;
  }
  return html`<div class="field" data-field=${i}><label for=${id}>${name(field)}</label>${notes}${control(field, given)}${trouble}</div>`;
}

// unseenIn says whether a suggested text is not what it looks like in its control.
function unseenIn(field) {
  if (field.kind !== "text" || field.default === undefined) return false;
  const text = JSON.parse(field.default);
  return visible(text) !== text;
}

// name is what to call a field and, since its title may say anything, its name.
function name(field) {
  return html`<bdi>${visible(clip(label(field), mostName))}</bdi>${field.title && field.title !== field.name ? html` <bdi class="code quiet small">${visible(field.name)}</bdi>` : nothing}${field.required ? html` <span class="must">required</span>` : nothing}`;
}

const choiceName = (c) => (c.title && c.title !== c.value ? `${clip(c.title, mostName)} (${clip(c.value, mostName)})` : clip(c.value, mostName));

// terms is what is expected, where the control does not say so itself.
function terms(field) {
  if (["yes or no", "one choice"].includes(field.kind)) return "";
  if (field.kind === "choices") return field.minItems || field.maxItems !== undefined ? expected(field) : "";
  if (field.kind === "text" && !field.pattern && !field.minLength && field.maxLength === undefined) {
    return field.format === "date-time" ? `in your time zone, which is ${zone(new Date())} now` : "";
  }
  return expected(field);
}

const isGroup = (field) => field.kind === "choices" || field.kind === "yes or no" || (field.kind === "one choice" && field.choices.length <= fewChoices);

function options(field, id) {
  if (field.kind === "choices") {
    const chosen = new Set(field.default ? items(field.default).map((raw) => JSON.parse(raw)) : []);
    return field.choices.map((c, n) => html`<label class="check"><input type="checkbox" value=${n} ?checked=${chosen.has(c.value)}> <bdi>${visible(choiceName(c))}</bdi></label>`);
  }
  const radio = (value, words, checked) => html`<label class="check"><input type="radio" name=${id} value=${value} ?checked=${checked}> <bdi>${words}</bdi></label>`;
  const of = field.kind === "yes or no" ? ["Yes", "No"] : field.choices.map(choiceName);
  const chosen = chosenIn(field);
  return html`${of.map((words, n) => radio(n, visible(words), n === chosen))}${field.required ? nothing : radio("", html`<span class="quiet">leave out</span>`, chosen < 0)}`;
}

// chosenIn is the number of the choice that the asker suggests, −1 without one.
function chosenIn(field) {
  if (field.default === undefined) return -1;
  if (field.kind === "yes or no") return field.default === "true" ? 0 : 1;
  const value = JSON.parse(field.default);
  return field.choices.findIndex((c) => c.value === value);
}

function control(field, { id, about, invalid }) {
  const must = field.required ? "true" : nothing;
  if (field.kind === "one choice") {
    const chosen = chosenIn(field);
    return html`<select id=${id} aria-describedby=${about} aria-invalid=${invalid} aria-required=${must}>
      <option value="">${field.required ? "choose…" : "leave out"}</option>
      ${field.choices.map((c, n) => html`<option value=${n} ?selected=${n === chosen}>${visible(choiceName(c))}</option>`)}</select>`;
  }
  const begin = beginning(field);
  if (isLong(field)) {
    return html`<textarea id=${id} rows="1" autocomplete="off" aria-describedby=${about} aria-invalid=${invalid} aria-required=${must} .value=${begin}></textarea>`;
  }
  const { type, step = nothing, mode = nothing, min = nothing, max = nothing } = inputOf(field);
  return html`<input id=${id} type=${type} step=${step} min=${min} max=${max} inputmode=${mode} autocomplete="off" spellcheck="false" aria-describedby=${about} aria-invalid=${invalid} aria-required=${must} .value=${begin}>`;
}

const isLong = (field) => field.kind === "text" && !field.format && !(field.maxLength <= shortText && !/[\r\n]/.test(beginning(field)));

// inputOf is the kind of <input> for a field. A control that would not keep every
// digit of a number, or all of a time, is an input for text instead.
function inputOf(field) {
  if (field.kind !== "text") {
    const small = (n) => n !== undefined && /^-?\d{1,9}$/.test(n);
    const mode = field.minimum !== undefined && !field.minimum.startsWith("-") ? (field.kind === "integer" ? "numeric" : "decimal") : nothing;
    if (field.kind === "integer" && small(field.minimum) && small(field.maximum)) return { type: "number", step: "1", min: field.minimum, max: field.maximum, mode };
    return { type: "text", mode };
  }
  const suggested = field.default === undefined ? "" : JSON.parse(field.default);
  switch (field.format) {
    case "email":
      return { type: /^[\x21-\x7e]*$/.test(suggested) ? "email" : "text", mode: "email" };
    case "uri":
      return { type: "url" };
    case "date":
      return suggested.startsWith("0000") ? { type: "text" } : { type: "date" };
    case "date-time":
      return suggested && !local(suggested) ? { type: "text" } : { type: "datetime-local", step: "1" };
  }
  return { type: "text" };
}

// beginning is what a control begins with: what the asker suggests.
function beginning(field) {
  if (field.default === undefined) return "";
  if (field.kind !== "text") return field.default;
  const text = JSON.parse(field.default);
  return field.format === "date-time" ? local(text) || text : text;
}

// local is a time as datetime-local has it; "" where that cannot be said there.
function local(time) {
  const at = new Date(time);
  if (Number.isNaN(at.getTime()) || at.getFullYear() < 1 || at.getFullYear() > 9999) return "";
  const two = (n) => String(n).padStart(2, "0");
  return `${String(at.getFullYear()).padStart(4, "0")}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

// zone is what RFC 3339 calls the offset of the time zone here at a time.
function zone(at) {
  const minutes = -at.getTimezoneOffset();
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  return `${minutes < 0 ? "-" : "+"}${two(Math.abs(minutes) / 60)}:${two(Math.abs(minutes) % 60)}`;
}

// stateOf is what stands in the controls of a field, to see whether it was changed.
export function stateOf(element) {
  const controls = [...element.querySelectorAll("input, select, textarea")];
  return controls.map((c) => (["checkbox", "radio"].includes(c.type) ? (c.checked ? "1" : "0") : c.value + (c.validity.badInput ? " ?" : ""))).join("\n");
}

// read is the answer in the controls of a field: {json}, {problem}, or {} where it is
// left out.
export function read(field, element) {
  if (field.kind === "choices") return readMany(field, element);
  if (field.kind === "yes or no" || field.kind === "one choice") {
    const value = (element.querySelector("input:checked") ?? element.querySelector("select"))?.value ?? "";
    if (value === "") return {};
    return { json: field.kind === "yes or no" ? String(value === "0") : JSON.stringify(field.choices[value].value) };
  }
  const input = element.querySelector("input, textarea");
  if (input.validity.badInput) return { problem: `expected ${expected(field)}, got a part of one` };
  const text = input.value;
  if (field.kind !== "text") return text.trim() === "" ? {} : readNumber(field, text);
  if (text === "") return {};
  if (!text.isWellFormed()) return { problem: "this is no text in UTF-8" };
  if (input.type !== "datetime-local") return { json: JSON.stringify(text) };
  return { json: JSON.stringify((text.length === 16 ? text + ":00" : text) + zone(new Date(text))) };
}

// readMany takes no choice at all for an answer where one has to be given, or where
// the suggested ones were taken away.
function readMany(field, element) {
  const chosen = [...element.querySelectorAll("input:checked")].map((c) => JSON.stringify(field.choices[c.value].value));
  if (!chosen.length && !field.required && (field.default === undefined || field.minItems)) return {};
  return { json: `[${chosen.join(",")}]` };
}
