// What is shown as a file: envelopes as JSON Lines, byte for byte as the gateway
// delivers them, but that a line break between values is a blank.
import * as api from "../base/api.js";
import { at, items } from "../base/raw.js";

const page = 1000;
export const mostLines = 100_000;
export const mostUnits = 64 << 20; // characters of a file, about its bytes

// collect has all that a search finds below a position, newest first until there is no
// more room, and then in order. told is called with how many there are; without presence
// it leaves out who came and went.
export async function collect(space, given, { below = 0, presence = true, signal, told = () => {} }) {
  const lines = [];
  let units = 0;
  for (let before = below; ; ) {
    const text = await api.search(space, [...given, ["order", "desc"], ["limit", page], ...(before ? [["before", before]] : [])], signal);
    for (const line of items(at(text, "items"))) {
      if (!presence && at(line, "kind") === '"system/presence"') continue;
      if (lines.length === mostLines || units + line.length > mostUnits) return { lines: lines.reverse(), cut: true };
      lines.push(line);
      units += line.length;
    }
    told(lines.length);
    before = Number(at(text, "next") ?? 0);
    if (!before) return { lines: lines.reverse(), cut: false };
  }
}

// save hands lines to the browser as a file. Its name says what they are, and from
// where to where they go.
export function save(space, what, lines) {
  const seq = (line) => at(line, "seq") ?? "0";
  const range = lines.length ? `${seq(lines[0])}-${seq(lines.at(-1))}` : "nothing";
  const link = document.createElement("a");
  link.download = `${[space, what, range].map(plain).join("-")}.jsonl`;
  link.href = URL.createObjectURL(new Blob(lines.flatMap((line) => [line.replace(/[\r\n]/g, " "), "\n"]), { type: "application/jsonl" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

const plain = (text) => String(text).replace(/[^A-Za-z0-9._-]+/g, "_").slice(0, 60);
