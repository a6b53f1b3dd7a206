// How one is told of what waits, while one looks elsewhere.
import { html, nothing } from "../vendor/lit-3.3.3.js";
import { Dialog } from "../base/dialog.js";
import { badged, Notifier, setBadged } from "./notify.js";

export class NotifyDialog extends Dialog {
  async desktop(box) {
    const { app } = this;
    if (!box.checked) app.notifier.turnOff();
    else this.refused = !(await app.notifier.turnOn());
    box.checked = app.notifier.on;
    app.changed();
  }

  view() {
    const { app } = this;
    return this.frame(
      "Notifications",
      html`
        <label class="check"><input type="checkbox" id="notify" autofocus .checked=${app.notifier.on} ?disabled=${!Notifier.possible} @change=${(e) => this.desktop(e.target)}> Tell me on the desktop when a proposal begins to wait for me</label>
        <p class="quiet small">It names the tool and who proposes, and nothing of the arguments. It comes while this page is open and you look elsewhere.</p>
        ${Notifier.possible ? nothing : html`<p class="warning" role="note">This browser has no notifications for pages that came without TLS from another machine.</p>`}
        ${this.refused ? html`<p class="warning" role="alert">Your browser does not allow this page to notify you. Its settings for this page, beside the address, can change that.</p>` : nothing}
        <label class="check"><input type="checkbox" id="badge" .checked=${badged()} @change=${(e) => (setBadged(e.target.checked), app.changed())}> Show in the title and the icon of the page how many wait</label>`,
      "help",
    );
  }
}
