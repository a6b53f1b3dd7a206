// Who is here, and the threads, where the screen has no room for them beside the stream.
import { html } from "../vendor/lit-3.3.3.js";
import { Dialog } from "../base/dialog.js";

export class SideDialog extends Dialog {
  constructor(page) {
    super(page.app);
    this.page = page;
  }

  view() {
    return this.frame("People and threads", html`<div class="scroll side" tabindex="-1">${this.page.side(() => this.close())}</div>`, "drawer");
  }
}
