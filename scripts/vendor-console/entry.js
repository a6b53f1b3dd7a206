// What the console uses of lit: templates and the directives beside them. It
// has no elements of its own, so lit's element classes stay out.
export { html, render, nothing } from "lit/html.js";
export { keyed } from "lit/directives/keyed.js";
export { live } from "lit/directives/live.js";
export { ref } from "lit/directives/ref.js";
export { repeat } from "lit/directives/repeat.js";
