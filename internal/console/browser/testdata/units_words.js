// How things are said. One function, as in units.js.
async (load) => {
  const { ended, sentence, size, stamp, clock } = await load("base/text.js");
  const { compact, oneRow } = await load("room/store.js");
  const failures = [];
  const equal = (got, want, what) => {
    if (JSON.stringify(got) !== JSON.stringify(want)) failures.push(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  };
  equal(["", "no", "no.", "why?"].map(ended), ["", "no.", "no.", "why?"], "ended");
  equal(["", "reject it", "parley tools list files shows them"].map(sentence), ["", "Reject it.", "parley tools list files shows them."], "sentence");
  equal([0, 1, 2].map(size), ["0 bytes", "1 byte", "2 bytes"], "size");
  const tomorrow = new Date();
  tomorrow.setDate(tomorrow.getDate() + 1);
  equal(stamp(tomorrow.toISOString()), `tomorrow ${clock(tomorrow)}`, "tomorrow");
  equal(compact(JSON.parse("[12345678901234567890123,-9007199254740993,9007199254740991]")), "[≈1.2345678901234568e+22,≈-9007199254740992,9007199254740991]", "rounded");
  const call = (more) => oneRow({ id: "a", seq: 1, from: "you", kind: "mcp/request:tools/call:w", payload: { id: 1, method: "tools/call" }, ...more });
  equal([call().answering, call({ correlation_id: ["p"] }).answering], [false, true], "a call that answers something");
  return failures;
}
