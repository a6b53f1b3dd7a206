// The keys, and what each does where one is.
import { html } from "../vendor/lit-3.3.3.js";
import { commands } from "./commands.js";
import { Dialog } from "../base/dialog.js";

// These belong to what has the keyboard: a list, a dialog.
const always = [
  { keys: ["↓", "↑"], label: "Next, previous" },
  { keys: ["Enter"], label: "Open what is chosen; confirm" },
  { keys: ["Esc"], label: "Close" },
];

export class HelpDialog extends Dialog {
  view() {
    const { app } = this;
    const listed = [...commands(app).filter((c) => c.keys), ...always];
    return this.frame(
      "Keys",
      html`
        <dl class="keys">${listed.map((c) => html`<dt>${c.keys.map((k) => html`<kbd>${k}</kbd> `)}</dt><dd>${c.label}</dd>`)}</dl>
        <label class="check"><input type="checkbox" .checked=${app.singleKeys} @change=${(e) => app.setSingleKeys(e.target.checked)}> Single keys act</label>`,
      "help",
    );
  }
}
