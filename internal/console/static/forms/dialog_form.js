// What somebody asks of us, as a form.
import { html } from "../vendor/lit-3.3.3.js";
import { Dialog } from "../base/dialog.js";
import { Filling } from "./filling.js";
import { person } from "../base/row.js";

export class FormDialog extends Dialog {
  constructor(app, ask) {
    super(app);
    this.ask = ask;
    this.filling = ask.filling ??= new Filling(app, ask);
    this.filling.close = () => this.close();
    this.filling.shown();
  }

  // opened gives the keyboard to where one begins; before, the form may not stand in
  // the page.
  opened() {
    this.filling.focus();
  }

  view() {
    return this.frame(html`${person(this.ask.from)} asks you something`, this.filling.element, "form");
  }
}
