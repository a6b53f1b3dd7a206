// JSON Lines as they arrive: batches of whole lines, so that memory is bounded by
// the longest of them and a batch, however long the stream is.
const batch = 256; // lines
const longest = 64 << 20; // bytes of one line

// lines yields arrays of lines; one that is no UTF-8 is "".
export async function* lines(stream) {
  const reader = stream.getReader();
  let rest = [];
  let waiting = 0;
  let ready = [];
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      let begin = 0;
      for (let at; (at = value.indexOf(10, begin)) >= 0; begin = at + 1) {
        ready.push(decoded(joined(rest, value.subarray(begin, at))));
        rest = [];
        waiting = 0;
        if (ready.length === batch) {
          yield ready;
          ready = [];
        }
      }
      if (begin < value.length) rest.push(value.subarray(begin));
      if ((waiting += value.length - begin) > longest) throw new Error(`A line is longer than ${longest >> 20} MiB, which is more than a page can read.`);
      if (ready.length) {
        yield ready;
        ready = [];
      }
    }
    if (waiting) yield [decoded(joined(rest, new Uint8Array()))];
  } finally {
    reader.cancel().catch(() => {}); // it has ended, or nobody wants more
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decoded(bytes) {
  try {
    return decoder.decode(bytes);
  } catch {
    return "";
  }
}

function joined(before, last) {
  if (!before.length) return last;
  const parts = [...before, last];
  const whole = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    whole.set(p, at);
    at += p.length;
  }
  return whole;
}
