// Verifies beside the page, which goes on answering. It is told {space, state,
// kept, most}, or {stop: true}; it tells {progress}, and at the end {result} or
// {problem}.
import { verify } from "./verify.js";

let stop = new AbortController();

onmessage = async ({ data }) => {
  if (data.stop) return stop.abort();
  stop = new AbortController();
  const { signal } = stop;
  try {
    const result = await verify({ ...data, signal, progress: told(), open: (after) => stream(data.space, after, signal) });
    postMessage({ result });
  } catch (error) {
    postMessage({ problem: error.message });
  }
};

// told tells how far it is, a few times a second.
function told() {
  let last = 0;
  return (progress) => {
    if (performance.now() - last < 100) return;
    last = performance.now();
    postMessage({ progress });
  };
}

async function stream(space, after, signal) {
  const answer = await fetch(`/v1/spaces/${encodeURIComponent(space)}/journal${after ? `?after=${after}` : ""}`, { signal, cache: "no-store" });
  if (answer.ok) return answer.body;
  const problem = await answer.json().catch(() => ({}));
  throw new Error([problem.detail ?? `The gateway answered ${answer.status}.`, problem.hint].filter(Boolean).join(" "));
}
