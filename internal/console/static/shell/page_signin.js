// The page for whoever has no session: a token to paste, or what became of a link.
import { html, nothing, ref } from "../vendor/lit-3.3.3.js";

const focus = (element) => element && queueMicrotask(() => element.focus());

export function signInPage({ busy, problem, submit }) {
  const onSubmit = (e) => {
    e.preventDefault();
    const field = e.target.elements.token;
    const token = field.value.trim();
    field.value = ""; // it is not kept in the page
    if (token) submit({ token });
  };
  return html`
    <main class="signin">
      <form class="panel" @submit=${onSubmit}>
        <img src="/console/icon.svg" alt="" width="44" height="44">
        <h1>Sign in to Parley</h1>
        <p class="quiet">Open the link that <code>parley up</code> printed, or paste the token of a participant.</p>
        ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}
        <label for="token">Token</label>
        <input id="token" name="token" type="password" autocomplete="off" spellcheck="false" required ?disabled=${busy} ${ref(focus)}>
        <button class="primary" ?disabled=${busy}>${busy ? "Signing in…" : "Sign in"}</button>
        <p class="quiet small">The token goes to this gateway alone. The page keeps none of it.</p>
      </form>
    </main>`;
}
