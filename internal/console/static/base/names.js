// Who is known in this room, to find those whose name looks like somebody else's.
// Made anew for each room that is joined.
import { skeleton } from "./lookalikes.js";

const most = 20_000;
const always = ["system:gateway", "you"]; // which mean more than a name

const skeletons = new Map(); // id → what it looks like
let known = new Map(); // what it looks like → ids
let me = () => "";

// begin forgets who was known; who says who we are.
export function begin(who) {
  me = who;
  known = new Map();
  skeletons.clear();
  always.forEach(learn);
}

// hear is told of each frame.
export function hear(e) {
  learn(e.from);
  if (e.kind === "system/welcome") for (const p of e.payload?.participants ?? []) learn(p?.id);
  if (e.kind === "system/presence") learn(e.payload?.participant?.id);
}

// learn is told of somebody who is known by other means.
export function learn(id) {
  if (typeof id !== "string" || known.size >= most) return;
  const ids = known.get(looks(id));
  if (!ids) known.set(looks(id), [id]);
  else if (!ids.includes(id) && ids.length < 8) ids.push(id);
}

function looks(id) {
  let s = skeletons.get(id);
  if (s === undefined) {
    if (skeletons.size >= most) skeletons.clear();
    skeletons.set(id, (s = skeleton(id)));
  }
  return s;
}

// likeness is whom a name could be taken for; undefined where that is nobody. Our own
// name and the gateway's are what others are held against.
export function likeness(id) {
  if (id === me() || id === "system:gateway" || typeof id !== "string") return undefined;
  const others = known.get(looks(id))?.filter((other) => other !== id) ?? [];
  return others.find((other) => other === me()) ?? others[0];
}
