// A list that draws only the rows in view. All rows are equally high, so a place in
// the list is a multiplication, for a hundred thousand rows as for ten.
import { html, render } from "../vendor/lit-3.3.3.js";
import { matches } from "./store.js";

const spare = 6; // rows drawn above and below what is seen
const near = 10; // rows from an end

export class List {
  // row draws one; picked is called when one is chosen; moved when what is seen
  // or counted as new changes; edge when the first or the last rows come into sight, with
  // "top" or "bottom". A list that follows begins at its end, and stays there.
  constructor(scroller, store, { row, picked, moved, edge = () => {}, follows = true }) {
    Object.assign(this, { scroller, store, row, picked, moved, edge, follows });
    this.filter = {};
    this.view = [];
    this.read = 0; // how far of the store the view has been made, by row number
    this.fresh = 0; // rows that came below what is seen
    this.current = undefined; // the row that the keyboard stands on
    this.stuck = follows; // to the newest
    this.collapsed = new Set();
    this.sizer = document.createElement("div");
    this.window = document.createElement("div");
    this.sizer.className = "sizer";
    this.window.className = "window";
    this.window.setAttribute("role", "presentation");
    this.sizer.setAttribute("role", "presentation");
    this.sizer.append(this.window);
    scroller.append(this.sizer);
    scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    scroller.addEventListener("keydown", (e) => this.key(e));
    this.window.addEventListener("click", (e) => {
      const n = e.target.closest("[data-n]")?.dataset.n;
      if (n !== undefined) this.choose(this.store.rows[n - this.store.first]);
    });
    this.resizes = new ResizeObserver(() => {
      this.measure();
      if (this.stuck) this.toEnd();
      this.draw();
    });
    this.resizes.observe(scroller);
    this.measure();
  }

  stop() {
    this.resizes.disconnect();
  }

  measure() {
    this.height = parseFloat(getComputedStyle(this.scroller).getPropertyValue("--row")) || 56;
  }

  // show makes the view anew, for another filter.
  show(filter) {
    this.filter = filter;
    this.make();
    this.fresh = 0;
    this.layout();
    if (this.follows) this.toEnd();
    else this.scroller.scrollTop = 0;
    this.draw();
  }

  make() {
    this.view = [];
    this.read = this.store.first;
    this.heads = new Map();
    this.store.takeAltered();
    this.extend();
  }

  // again makes the view anew and keeps what is looked at in its place.
  again() {
    const { scrollTop } = this.scroller;
    const at = Math.min(this.view.length - 1, Math.floor(scrollTop / this.height));
    const seen = this.view[at];
    const { stuck, read } = this;
    this.make();
    this.layout();
    if (stuck) return this.toEnd();
    if (this.follows) this.fresh += this.view.length - this.placeOf(read);
    if (seen) this.scroller.scrollTop = this.placeOf(seen.n) * this.height + (scrollTop - at * this.height);
  }

  // placeOf is where in the view the row of a number stands, or would stand.
  placeOf(n) {
    let low = 0;
    let high = this.view.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.view[middle].n < n) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // update takes what is new in the store.
  update() {
    const { store } = this;
    const { first } = store;
    const altered = store.takeAltered();
    if (store.rows.length + first < this.read) return this.show(this.filter); // a store that began anew
    if (!altered || !this.settle(altered)) this.again();
    const before = this.view.length;
    let gone = 0;
    while (gone < this.view.length && this.view[gone].n < first) gone++;
    if (gone) this.view.splice(0, gone);
    this.read = Math.max(this.read, first);
    this.extend();
    const came = this.view.length - (before - gone);
    this.layout();
    if (this.stuck) {
      this.toEnd();
    } else {
      if (gone) this.scroller.scrollTop -= gone * this.height;
      if (this.follows) this.fresh += came;
    }
    this.draw();
  }

  // settle takes rows that changed into the view, or out of it, and reports whether
  // that can be done one by one.
  settle(altered) {
    for (const row of altered) {
      if (row.n >= this.read) continue;
      const at = this.placeOf(row.n);
      const shown = this.view[at] === row;
      if (shown === (matches(row, this.filter) && !this.folded(row))) continue;
      if (row.context) return false; // the heads of threads may be others
      this.view.splice(at, shown ? 1 : 0, ...(shown ? [] : [row]));
      if (!this.stuck && (at + 1) * this.height <= this.scroller.scrollTop) this.scroller.scrollTop += shown ? -this.height : this.height;
    }
    return true;
  }

  extend() {
    const { rows, first } = this.store;
    for (const end = rows.length + first; this.read < end; this.read++) {
      const row = rows[this.read - first];
      if (matches(row, this.filter) && !this.folded(row)) this.view.push(row);
    }
  }

  // folded reports whether a row lies in a thread that is folded; its first row
  // stands for all.
  folded(row) {
    if (!row.context) return false;
    const head = this.heads.get(row.context);
    if (head === undefined) {
      this.heads.set(row.context, row.n);
      return false;
    }
    return this.collapsed.has(row.context) && head !== row.n;
  }

  fold(context) {
    if (!this.collapsed.delete(context)) this.collapsed.add(context);
    this.again();
    this.draw();
  }

  layout() {
    this.sizer.style.height = `${this.view.length * this.height}px`;
  }

  toEnd() {
    this.stuck = true;
    this.fresh = 0;
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  scrolled() {
    const { scrollTop, clientHeight, scrollHeight } = this.scroller;
    this.stuck = this.follows && scrollTop + clientHeight >= scrollHeight - this.height / 2;
    if (this.stuck) this.fresh = 0;
    this.draw();
    this.moved();
    if (scrollTop < near * this.height) this.edge("top");
    if (scrollTop + clientHeight > scrollHeight - near * this.height) this.edge("bottom");
  }

  draw() {
    const top = this.scroller.scrollTop;
    const begin = Math.max(0, Math.floor(top / this.height) - spare);
    const end = Math.min(this.view.length, Math.ceil((top + this.scroller.clientHeight) / this.height) + spare);
    this.window.style.transform = `translateY(${begin * this.height}px)`;
    const drawn = this.view.slice(begin, end);
    render(
      drawn.map((row, i) => this.row(row, { current: row === this.current, place: begin + i + 1, of: this.view.length, head: this.heads.get(row.context) === row.n })),
      this.window,
    );
    const at = drawn.includes(this.current) ? "row-" + this.current.n : "";
    if (at) this.scroller.setAttribute("aria-activedescendant", at);
    else this.scroller.removeAttribute("aria-activedescendant");
  }

  // reveal chooses a row and brings it into the middle.
  reveal(row) {
    this.current = row;
    this.scroller.scrollTop = this.placeOf(row.n) * this.height - (this.scroller.clientHeight - this.height) / 2;
    this.draw();
  }

  choose(row) {
    if (!row) return;
    this.current = row;
    this.draw();
    this.picked(row);
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / this.height) - 1);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[e.key];
    if (by !== undefined) {
      e.preventDefault();
      this.move(by);
    } else if (e.key === "Enter" && this.current) {
      e.preventDefault();
      this.picked(this.current);
    }
  }

  // move takes the keyboard's row on, and into sight.
  move(by) {
    if (!this.view.length) return;
    const at = this.current ? this.view.indexOf(this.current) : -1;
    const from = at >= 0 ? at : this.follows ? this.view.length - (by > 0 ? 2 : 0) : by > 0 ? -1 : 1;
    const to = Math.min(this.view.length - 1, Math.max(0, from + by));
    this.current = this.view[to];
    const top = to * this.height;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (top + this.height > scrollTop + clientHeight) this.scroller.scrollTop = top + this.height - clientHeight;
    this.scrolled();
  }
}
