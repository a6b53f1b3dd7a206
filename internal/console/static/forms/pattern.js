// Whether texts match the patterns of a form.
const longest = 2000; // milliseconds for all of them

// matchAll tries each [pattern, text]: true, false, or undefined where that could not
// be found out, as with a pattern that is none or that takes too long.
export function matchAll(pairs) {
  const found = [];
  if (!pairs.length) return Promise.resolve(found);
  return new Promise((done) => {
    const worker = new Worker(new URL("./pattern_worker.js", import.meta.url));
    let timer;
    const end = () => {
      clearTimeout(timer);
      worker.terminate();
      done(found);
    };
    worker.onerror = end;
    worker.onmessage = ({ data }) => {
      if (data === "ready") {
        timer = setTimeout(end, longest);
        return worker.postMessage(pairs);
      }
      found.push(data);
      if (found.length === pairs.length) end();
    };
  });
}
