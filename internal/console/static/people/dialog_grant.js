// To let somebody send more: what, where, and until when. The next step shows the
// envelope, and asks the gateway whether one may grant that.
import { html, live, nothing } from "../vendor/lit-3.3.3.js";
import { Dialog } from "../base/dialog.js";
import { OrderDialog } from "../base/dialog_order.js";
import { capabilityOf, choices, text, words } from "./rights.js";
import { person } from "../base/row.js";
import { clock, visible } from "../base/text.js";

const minute = 60_000;
const spans = [
  { label: "10 minutes", ms: 10 * minute },
  { label: "1 hour", ms: 60 * minute },
  { label: "8 hours", ms: 480 * minute },
  { label: "a day", ms: 1440 * minute },
  { label: "until it is revoked", ms: 0 },
];

export class GrantDialog extends Dialog {
  // servers are those who may be named as a server; tools(server) its tools' names.
  constructor(app, recipient, { servers, tools, done }) {
    super(app);
    Object.assign(this, { recipient, servers, tools, done });
    this.form = { choice: "", tool: "", server: "", context: "", own: "" };
    this.span = 1;
  }

  set(change) {
    Object.assign(this.form, change);
    this.problem = "";
    this.app.changed();
  }

  get chosen() {
    return choices.find((c) => c.id === this.form.choice) ?? {};
  }

  // capability is what is chosen so far; undefined where that is not enough, or no JSON
  // yet. All tools are a choice as well: nobody grants them by leaving a field empty.
  get capability() {
    const { chosen, form } = this;
    if (!chosen.id || (chosen.tool && !form.tool.trim())) return undefined;
    try {
      return capabilityOf(this.form);
    } catch {
      return undefined;
    }
  }

  next(e) {
    e.preventDefault();
    const capability = this.capability;
    if (!capability) {
      this.problem = this.form.choice === "own" ? "That is neither a pattern, as chat or mcp/request:tools/call:read_*, nor a JSON object." : this.chosen.tool ? "Say which tools; * are all of them." : "Choose what to grant.";
      return this.app.changed();
    }
    const { ms } = spans[this.span];
    const expires = ms ? new Date(Math.ceil((Date.now() + ms) / 1000) * 1000).toISOString().replace(/\.\d+Z$/, "Z") : undefined;
    this.app.show(
      new OrderDialog(this.app, {
        title: html`Grant ${person(this.recipient)} more`,
        says: html`From now on ${person(this.recipient)} <bdi>${visible(words(capability))}</bdi>, ${expires ? html`until ${clock(expires)} (${spans[this.span].label} from now)` : "until somebody revokes it"}.`,
        verb: "Grant",
        kind: "capability/grant",
        payload: { recipient: this.recipient, capabilities: [capability], ...(expires ? { expires } : {}) },
        done: this.done,
        back: () => this.app.show(this),
      }),
    );
  }

  view() {
    const { form, chosen, capability } = this;
    return this.frame(
      html`Grant ${person(this.recipient)} more`,
      html`
        <form class="grant" @submit=${(e) => this.next(e)}>
          <div class="scroll fields" tabindex="-1">
            <label class="stack"><span>What</span><select name="choice" autofocus .value=${live(form.choice)} @change=${(e) => this.set({ choice: e.target.value })}>
              <option value="" ?selected=${!form.choice}>choose…</option>${choices.map((c) => html`<option value=${c.id} ?selected=${c.id === form.choice}>${c.label}</option>`)}</select></label>
            ${chosen.tool ? field(this, "tool", "Which tools", "a name, a part as read_*, or * for all", html`<datalist id="tool-names">${this.tools(form.server).map((t) => html`<option value=${t}></option>`)}</datalist>`, "tool-names") : nothing}
            ${chosen.tool || chosen.server ? html`<label class="stack"><span>At</span><select name="server" .value=${live(form.server)} @change=${(e) => this.set({ server: e.target.value })}>
              <option value="">anybody</option>${this.servers.map((s) => html`<option value=${s} ?selected=${s === form.server}>${visible(s)}</option>`)}</select></label>` : nothing}
            ${chosen.own ? field(this, "own", "Pattern", "as mcp/request:resources/read:* or {\"kind\": …}") : field(this, "context", "Only within contexts of type", "empty: anywhere")}
            <fieldset><legend>For</legend>${spans.map((s, i) => html`<label class="check"><input type="radio" name="span" .checked=${live(i === this.span)} @change=${() => ((this.span = i), this.app.changed())}> ${s.label}</label>`)}</fieldset>
            <p class="meaning" role="status">${capability ? html`${person(this.recipient)} <bdi>${visible(words(capability))}</bdi> <code><bdi>${visible(text(capability))}</bdi></code>` : html`<span class="quiet">Nothing is chosen yet.</span>`}</p>
          </div>
          ${this.problem ? html`<p class="problem" role="alert">${this.problem}</p>` : nothing}
          <div class="buttons"><button type="submit" class="primary" id="next-step">Look at it…</button><button type="button" @click=${() => this.close()}>Cancel</button></div>
        </form>`,
      "order",
    );
  }
}

function field(dialog, name, label, placeholder, more = nothing, list) {
  return html`<label class="stack"><span>${label}</span><input name=${name} autocomplete="off" spellcheck="false" maxlength="4096" placeholder=${placeholder} list=${list ?? nothing}
    .value=${live(dialog.form[name])} @input=${(e) => dialog.set({ [name]: e.target.value })}></label>${more}`;
}
