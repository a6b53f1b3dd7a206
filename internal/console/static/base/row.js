// One row of the room.
import { html, nothing } from "../vendor/lit-3.3.3.js";
import { likeness } from "./names.js";
import { clip, clock, oneLine, visible } from "./text.js";

// Each state in a word, and the class of its colour; never colour alone.
const states = {
  open: ["waiting", "warn"],
  running: ["running", "info"],
  done: ["done", "good"],
  failed: ["failed", "bad"],
  rejected: ["rejected", "bad"],
  withdrawn: ["withdrawn", "dim"],
  expired: ["expired", "dim"],
  refused: ["refused", "bad"],
  gap: ["gap", "warn"],
  unreadable: ["unreadable", "bad"],
};

export function badge(state) {
  const [word, tone] = states[state] ?? [state, "dim"];
  return word ? html`<span class="badge ${tone}">${word}</span>` : nothing;
}

// hue is a participant's colour: the same everywhere, and only a help beside the
// id, which is always shown.
function hue(id) {
  let h = 2166136261;
  for (const c of String(id)) h = Math.imul(h ^ c.codePointAt(0), 16777619) >>> 0;
  return (h >>> 11) % 8;
}

// person is a participant by the id, with a warning where it looks like another one.
export function person(id) {
  const like = likeness(id);
  return html`<bdi class="person hue-${hue(id)}" title=${visible(String(id))}>${visible(String(id))}</bdi>${like === undefined ? nothing : html` <span class="badge bad looks"><span class="sr">Warning: this name </span>looks like ${visible(clip(like, 40))}</span>`}`;
}

const verbs = { proposal: "proposed a call", call: "sent a call", answer: "answered", notice: "", chat: "", refusal: "", told: "" };

// thread is what is said of the thread: {about, unexpected}, each a text.
export function roomRow(row, { current, place, of, head, folded, thread, when = clock }) {
  const verb = row.answering ? "answered with a call" : (verbs[row.type] ?? row.kind);
  const said = row.type === "chat" || row.type === "told" || (row.type === "other" && !/^[[{]/.test(row.text));
  return html`
    <div id="row-${row.n}" data-n=${row.n} role="option" aria-selected=${current} aria-posinset=${place} aria-setsize=${of}
      class="row ${row.type} ${row.context ? "threaded" : ""} ${current ? "current" : ""}">
      <div class="line head">
        ${person(row.from)}
        ${verb ? html`<span class="quiet verb">${visible(verb)}</span>` : nothing}
        ${row.to.length ? html`<span class="quiet">to</span> ${row.to.map(person)}` : nothing}
        ${badge(row.state)}
        ${row.forUs && row.state === "running" ? html`<span class="badge warn">asks you</span>` : nothing}
        ${row.by ? html`<span class="quiet">by</span> ${person(row.by)}` : nothing}
        ${row.context ? html`<bdi class="thread" title=${thread?.about || nothing}>${folded ? "▸ " : head ? "▾ " : ""}${visible(row.context)}${folded ? ` · ${folded.toLocaleString("en")}` : ""}</bdi>` : nothing}
        ${thread?.unexpected ? html`<span class="badge unexpected" title=${thread.unexpected}>unusual here</span>` : nothing}
        <span class="grow"></span>
        ${row.type === "proposal" && row.state === "open" ? html`<span class="review">Review ›</span>` : nothing}
        <time datetime=${row.ts ?? nothing}>${row.ts ? when(row.ts) : ""}</time>
      </div>
      <div class="line body ${said ? "" : "code"}"><bdi>${oneLine(row.text)}</bdi>${row.answer ? html`<span class="answer"> → <bdi>${oneLine(row.answer)}</bdi></span>` : nothing}</div>
    </div>`;
}
