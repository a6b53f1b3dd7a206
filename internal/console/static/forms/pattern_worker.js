// Tries texts with regular expressions that somebody else wrote, out of the way of the
// page: one that takes too long is ended with this worker.
onmessage = ({ data }) => {
  for (const [pattern, text] of data) postMessage(compile(pattern)?.test(text));
};

function compile(pattern) {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      // The other way, or not at all: the asker checks the answer anyway.
    }
  }
}

postMessage("ready");
