// What stands in front of the page is a modal dialog of the browser's own, which
// keeps the keyboard in it and gives it back.
import { html, ref } from "../vendor/lit-3.3.3.js";

export class Dialog {
  constructor(app) {
    this.app = app;
    // The element is made before it stands in the page, and can be shown after.
    this.show = (element) =>
      queueMicrotask(() => {
        if (!element?.isConnected || element.open) return;
        element.showModal();
        this.opened?.();
      });
  }

  close() {
    this.app.closeDialog(this);
  }

  // clicked closes the dialog where one clicks beside it. A click that began inside, as
  // when text is selected or a button moves away, ends inside for all that it means.
  clicked(e) {
    if (e.target.localName === "dialog" && this.downOn === e.target) e.target.close();
  }

  frame(title, body, name = "") {
    return html`
      <dialog class=${name} ${ref(this.show)} @keydown=${(e) => this.pressedIn?.(e)} @close=${() => this.close()} @pointerdown=${(e) => (this.downOn = e.target)} @click=${(e) => this.clicked(e)} aria-labelledby="dialog-title">
        <div class="inside">
          <header><h2 id="dialog-title">${title}</h2><button class="plain close" aria-label="Close" @click=${() => this.close()}>✕</button></header>
          ${body}
        </div>
      </dialog>`;
  }
}
