// Whether the end of what one is about to send was in sight. A mark stands at the end
// of each text that belongs to it: see Decision.block. The end of a text that is not
// shown whole is nowhere yet.
const page = 0.85; // of what is in sight, by which one goes on

export class Reading {
  // counts() says whether what is in sight counts by now; changed(done) is called when
  // something is found to be unread, and when all was in sight; whole() has texts shown
  // whole.
  constructor({ counts, changed, whole }) {
    Object.assign(this, { counts, changed, whole, marks: [] });
    this.inSight = new WeakMap(); // mark → whether it is now
    this.seen = new WeakSet();
    this.observer = new IntersectionObserver((entries) => {
      for (const { target, intersectionRatio } of entries) this.inSight.set(target, intersectionRatio >= 0.5);
      this.count();
    }, { threshold: 0.5 });
  }

  // look finds the marks in what was drawn.
  look() {
    this.marks = [...document.querySelectorAll("dialog .until-here")];
    for (const mark of this.marks) this.observer.observe(mark); // which it does once
    if (this.toTheEnd) this.end();
    this.count();
  }

  count() {
    if (this.done || !this.counts()) return;
    for (const mark of this.marks) if (this.inSight.get(mark) && !isCut(mark)) this.seen.add(mark);
    const { unread } = this;
    if (unread !== this.told || this.done) this.changed(this.done);
    this.told = unread;
  }

  get left() {
    return this.marks.filter((mark) => !this.seen.has(mark));
  }

  get done() {
    return this.marks.length > 0 && this.left.length === 0;
  }

  // unread reports that an end was out of sight so far, and is.
  get unread() {
    const { left, inSight } = this;
    return this.counts() && left.every((mark) => inSight.has(mark)) && left.some((mark) => !inSight.get(mark) || isCut(mark));
  }

  // end goes to the first end that was not in sight.
  end() {
    const [mark] = this.left;
    this.toTheEnd = isCut(mark); // once it is shown
    if (this.toTheEnd) return this.whole();
    unfold(mark);
    mark.scrollIntoView({ block: "nearest" });
  }

  // on goes on towards it by a page: first of what holds the text, then of the text.
  on() {
    const [mark] = this.left;
    unfold(mark);
    const block = mark.closest(".block");
    const outer = block.closest(".scroll");
    const [box, view] = [block.getBoundingClientRect(), outer.getBoundingClientRect()];
    const before = block.scrollTop + outer.scrollTop;
    if (box.bottom > view.bottom + 1) outer.scrollTop += Math.min(box.bottom - view.bottom, page * view.height);
    else if (box.bottom < view.top + 1) block.scrollIntoView({ block: "nearest" });
    else block.scrollTop += page * (box.bottom - Math.max(box.top, view.top));
    if (block.scrollTop + outer.scrollTop !== before) return;
    if (isCut(mark)) this.whole();
    else mark.scrollIntoView({ block: "nearest" });
  }
}

const isCut = (mark) => mark?.classList.contains("cut") ?? false;

function unfold(mark) {
  const folded = mark?.closest("details");
  if (folded) folded.open = true;
}
