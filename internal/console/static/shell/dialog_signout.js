import { html } from "../vendor/lit-3.3.3.js";
import { Dialog } from "../base/dialog.js";

export class SignOutDialog extends Dialog {
  view() {
    const { app } = this;
    const go = (everywhere) => (this.close(), app.signOut(everywhere));
    return this.frame(
      "Sign out",
      html`
        <p class="quiet">Everywhere also ends what you left open in other browsers, and links that were not used yet.</p>
        <div class="buttons">
          <button id="sign-out" class="primary" autofocus @click=${() => go(false)}>Sign out here</button>
          <button id="sign-out-everywhere" class="danger" @click=${() => go(true)}>Sign out everywhere</button>
        </div>`,
      "help",
    );
  }
}
