// What stands around each page: the bar, notices, and the dialog in front.
import { html, keyed, live, nothing } from "../vendor/lit-3.3.3.js";
import { askedStrip } from "../forms/asked.js";
import { HelpDialog } from "./dialog_help.js";
import { Palette } from "./palette.js";
import { SignOutDialog } from "./dialog_signout.js";
import { pages } from "./pages.js";
import { badge, person } from "../base/row.js";
import { clip, oneLine, visible } from "../base/text.js";

export function shell(app, page) {
  return html`
    <a class="skip" href="#main" @click=${(e) => (e.preventDefault(), skip())}>Skip to the content</a>
    ${bar(app)} ${strips(app, page)}
    ${keyed(page, page.view())}
    ${app.dialog ? keyed(app.dialog, app.dialog.view()) : nothing}`;
}

// skip takes the keyboard over the bar, to what the page is about.
function skip() {
  const first = document.querySelector(".rows, #approve, .card, #next") ?? document.querySelector("#main :is(a, button, input, select, [tabindex])");
  first?.focus();
}

// landing is where the keyboard goes when what had it is gone: to what comes next.
export function landing() {
  return document.querySelector("#next") ?? document.querySelector("#main :is(.rows, #approve, #reject, .card)") ?? document.querySelector("#main :is(a, button, input, select, [tabindex])");
}

function bar(app) {
  const spaces = app.session.spaces ?? [];
  return html`
    <header class="bar">
      <img src="/console/icon.svg" alt="Parley" width="26" height="26">
      <label><span class="sr">Space</span><select name="space" .value=${live(app.address.space)} @change=${(e) => app.go({ space: e.target.value })}>
        ${spaces.map((s) => html`<option value=${s.name} ?selected=${s.name === app.address.space}>${visible(s.name)}</option>`)}</select></label>
      <nav aria-label="Pages">${pages.map((Page) => tab(app, Page))}</nav>
      <span class="grow"></span>
      ${linkState(app)}
      <span class="me" title="You are ${visible(app.me)}">${person(app.me)}</span>
      <button class="plain icon" @click=${() => app.show(new Palette(app))} aria-label="All commands">⌘</button>
      <button class="plain icon" @click=${() => app.toggleTheme()} aria-label="Light or dark">◐</button>
      <button class="plain icon" @click=${() => app.show(new HelpDialog(app))} aria-label="Keys">?</button>
      <button class="plain" @click=${() => app.show(new SignOutDialog(app))}>Sign out…</button>
    </header>`;
}

function tab(app, Page) {
  const here = app.page instanceof Page;
  const count = Page.count?.(app) ?? 0;
  const follow = (e) => {
    if (e.ctrlKey || e.metaKey || e.shiftKey) return; // in another tab
    e.preventDefault();
    app.go({ page: Page.name });
  };
  return html`<a href="?${new URLSearchParams({ space: app.address.space, page: Page.name })}" aria-current=${here ? "page" : nothing} @click=${follow}>${Page.label}${count ? html` <span class="count hot">${count.toLocaleString("en")}</span>` : nothing}</a>`;
}

function linkState(app) {
  const state = app.ended ? "ended" : (app.connection?.state ?? "ended");
  const words = { live: "live", connecting: "connecting…", waiting: "reconnecting…", ended: "disconnected" };
  return html`<span class="link ${state}" role="status"><span class="dot"></span><span class="word">${words[state]}</span></span>`;
}

function strips(app, page) {
  const waiting = app.mine;
  const [first] = waiting;
  const dismiss = () => {
    app.notice = "";
    app.changed();
  };
  return html`<section class="strips" aria-label="Notices">
    ${app.ended ? html`<p class="strip bad" role="alert">${app.ended} <button @click=${() => app.join()}>Join again</button></p>` : nothing}
    ${!app.address.space ? html`<p class="strip bad" role="alert">This token belongs to no space.</p>` : nothing}
    ${app.notice ? html`<p class="strip bad" role="alert">${visible(app.notice)} <button class="plain" @click=${dismiss} aria-label="Dismiss">✕</button></p>` : nothing}
    ${first && !page.decides ? html`<p class="strip warn"><span><strong>${waiting.length === 1 ? "1 proposal waits" : `${waiting.length.toLocaleString("en")} proposals wait`}</strong> for a decision: <bdi class="code">${visible(first.title)}</bdi> by ${person(first.from)}</span>
      <button id="review" class="primary" @click=${() => app.review(first.id)}>Review</button></p>` : nothing}
    ${page.decides ? nothing : askedStrip(app)}
    <div role="status">${app.followed && !page.decides ? followed(app) : nothing}</div>
  </section>`;
}

// followed says what came of the call that was approved last.
function followed(app) {
  const { followed } = app;
  const row = app.store.byID.get(followed.id);
  const state = row && row.state !== "open" ? row.state : "running";
  const dismiss = () => {
    app.followed = undefined;
    app.changed();
  };
  return html`<p class="strip followed"><span>${badge(state)} You approved <bdi class="code">${visible(clip(String(followed.title), 160))}</bdi>${row?.answer ? html`: <bdi class="code">${oneLine(clip(row.answer, 200))}</bdi>` : nothing}</span>
    <button class="plain" @click=${dismiss} aria-label="Dismiss">✕</button></p>`;
}
