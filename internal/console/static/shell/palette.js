// All commands by name: type a part of it, Enter.
import { html, nothing } from "../vendor/lit-3.3.3.js";
import { commands } from "./commands.js";
import { Dialog } from "../base/dialog.js";

const mostShown = 50;

export class Palette extends Dialog {
  constructor(app) {
    super(app);
    this.words = "";
    this.at = 0;
    this.all = commands(app).filter((c) => !(c.keys ?? []).includes("Ctrl K"));
  }

  get found() {
    const words = this.words.toLowerCase().split(/\s+/);
    return this.all.filter((c) => words.every((w) => c.label.toLowerCase().includes(w))).slice(0, mostShown);
  }

  run(command) {
    if (!command) return;
    this.close();
    command.act();
  }

  // pressed keeps the keyboard in the field: the list is gone through from there.
  pressed(e) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (by) {
      e.preventDefault();
      const { length } = this.found;
      this.at = length ? (this.at + by + length) % length : 0;
      this.app.changed();
    } else if (e.key === "Enter") {
      e.preventDefault();
      this.run(this.found[this.at]);
    }
  }

  view() {
    const { found } = this;
    return this.frame(
      "Commands",
      html`
        <input id="palette" autofocus autocomplete="off" spellcheck="false" placeholder="What to do" aria-label="What to do" role="combobox" aria-expanded="true"
          aria-controls="palette-list" aria-activedescendant=${found.length ? `command-${this.at}` : nothing}
          @input=${(e) => ((this.words = e.target.value), (this.at = 0), this.app.changed())} @keydown=${(e) => this.pressed(e)}>
        <ul class="scroll" id="palette-list" role="listbox" aria-label="Commands">${found.map((c, i) => html`
          <li id="command-${i}" role="option" class="command ${i === this.at ? "current" : ""}" aria-selected=${i === this.at} @click=${() => this.run(c)}>
            <span class="grow">${c.label}</span>${(c.keys ?? []).map((k) => html`<kbd>${k}</kbd>`)}</li>`)}</ul>
        ${found.length ? nothing : html`<p class="quiet" role="status">No command is named so.</p>`}`,
      "palette",
    );
  }
}
