// An elicitation in mode "url": a link that somebody wants opened. It is shown with the
// host that it leads to, never fetched, and opened after a confirmation alone.
import { html, nothing } from "../vendor/lit-3.3.3.js";
import { textAt } from "../base/raw.js";
import { clip, visible } from "../base/text.js";

const mostURL = 8192; // characters

// linkOf is {message, href, before, host, after}, or with what is wrong as problem.
export function linkOf(params) {
  const link = { message: textAt(params, "message"), given: textAt(params, "url"), problem: "" };
  if (!link.given) return { ...link, problem: "there is no link in it" };
  if (link.given.length > mostURL) return { ...link, problem: `the link is longer than ${mostURL.toLocaleString("en")} characters` };
  if (!URL.canParse(link.given)) return { ...link, problem: "the link is no URL" };
  const url = new URL(link.given);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname))) {
    return { ...link, problem: `links with ${clip(url.protocol, 40)} are not opened: only https, or http on this machine` };
  }
  const user = url.username || url.password;
  const begin = user ? url.href.indexOf("@") + 1 : url.protocol.length + 2;
  return { ...link, href: url.href, host: url.host, before: url.href.slice(0, begin), after: url.href.slice(begin + url.host.length), user };
}

const isLoopback = (name) => name === "localhost" || name.endsWith(".localhost") || name === "[::1]" || /^127(\.\d+){3}$/.test(name);

// linkView shows the link of a filling, and what opens it.
export function linkView(filling) {
  const { link, step } = filling;
  const open = link.href
    ? step === "link"
      ? html`<button class="primary" id="confirm-link" @click=${() => filling.go("opening")}>Open…</button>`
      : html`<button class="primary" id="open-link" aria-disabled=${!filling.ready} @click=${() => filling.open()}>Open ${clip(link.host, 60)} in a new tab</button><button @click=${() => filling.go("link")}>Back</button>`
    : nothing;
  return html`
    <section class="fill">
      <div class="scroll" tabindex="0" role="group" aria-label="What is asked">
        ${filling.messageView(link.message)}
        <h3>The link</h3>
        ${link.href
          ? html`<p class="block url" dir="ltr">${visible(link.before)}<strong>${visible(link.host)}</strong>${visible(link.after)}</p>
            ${link.href === link.given ? nothing : html`<p class="quiet small">As it was written: <bdi class="code">${visible(link.given)}</bdi></p>`}
            ${link.user ? html`<p class="warning">What stands before the @ is a name, not where the link leads: that is <strong>${visible(link.host)}</strong>.</p>` : nothing}`
          : html`<p class="block url" dir="ltr">${visible(clip(link.given, 2000))}</p><p class="warning">This cannot be opened from here: ${visible(link.problem)}.</p>`}
        ${step === "opening" ? html`<p class="warning" role="alert">You leave the room for <strong>${visible(link.host)}</strong>, which nobody here has checked. That you opened it is told to the asker; what you do there is not seen here.</p>` : nothing}
      </div>
      ${filling.buttons(open)}
    </section>`;
}
