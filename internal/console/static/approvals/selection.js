// What is chosen of a list of proposals. Pure. Own proposals cannot be chosen:
// nobody decides on their own.
export class Selection {
  constructor() {
    this.ids = new Set();
    this.last = undefined; // the one that was chosen or let go last
  }

  get size() {
    return this.ids.size;
  }

  has(id) {
    return this.ids.has(id);
  }

  // keep lets go of what is no longer listed.
  keep(list) {
    if (!this.ids.size) return;
    const listed = new Set(list.map((p) => p.id));
    for (const id of this.ids) if (!listed.has(id)) this.ids.delete(id);
  }

  // toggle chooses one, or lets it go; with range all between it and the last one.
  toggle(list, id, range = false) {
    const at = list.findIndex((p) => p.id === id);
    const from = range ? list.findIndex((p) => p.id === this.last) : -1;
    const on = !this.ids.has(id);
    for (const p of from < 0 ? [list[at]] : list.slice(Math.min(at, from), Math.max(at, from) + 1)) {
      if (on) this.ids.add(p.id);
      else this.ids.delete(p.id);
    }
    this.last = id;
  }

  add(list) {
    for (const p of list) this.ids.add(p.id);
  }

  clear() {
    this.ids.clear();
  }

  of(list) {
    return list.filter((p) => this.ids.has(p.id));
  }
}
