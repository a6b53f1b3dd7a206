// What a space says of the types of its threads. One function, as in units.js.
async (load) => {
  const { about, unexpected } = await load("room/thread_types.js");
  const failures = [];
  const equal = (got, want, what) => {
    if (JSON.stringify(got) !== JSON.stringify(want)) failures.push(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  };
  const space = (kinds, description) => ({ context_types: { t: { kinds, description } } });
  const reasoning = space(["reflection", "conclusion", "mcp/proposal:*"], "step by step");

  equal(about(reasoning, "t"), "t: step by step", "what a type is for");
  equal(about(space([], "\u202ea<b>"), "t"), "t: ⟨U+202E⟩a<b>", "a description that lies");
  for (const [said, type] of [[reasoning, "other"], [reasoning, undefined], [reasoning, "toString"], [{}, "t"], [undefined, "t"], [{ context_types: null }, "t"], [{ context_types: { t: null } }, "t"], [space("chat", 7), "t"]]) {
    equal([about(said, type), unexpected(said, type, { kind: "chat" })], ["", ""], "nothing is said of it");
  }

  const marked = (kind, kinds, more) => unexpected(kinds ? space(kinds) : reasoning, "t", { kind, ...more }) !== "";
  equal(unexpected(reasoning, "t", { kind: "chat" }), "chat is not among the kinds that t expects: reflection, conclusion, mcp/proposal:*", "in words");
  equal(unexpected(reasoning, "t", { kind: "x\u202e" + "y".repeat(999) }).includes("⟨U+202E⟩"), true, "a kind that lies");
  for (const kind of ["reflection", "conclusion", "mcp/proposal", "mcp/proposal:tools/call:w", "system/notice"]) equal(marked(kind), false, kind);
  for (const kind of ["chat", "reflections", "mcp/request:tools/call:w", "mcp/proposals"]) equal(marked(kind), true, kind);
  for (const more of [{ type: "answer" }, { type: "call", answers: ["p"] }]) equal(marked("mcp/request:tools/call:w", undefined, more), false, "what answers");
  for (const [pattern, kind, want] of [
    ["mcp/*", "mcp/request:tools/call:x", false], ["mcp/*", "mcpx/request", true], ["mcp/request", "mcp/request:tools/call:x", false],
    ["mcp/request:*/list", "mcp/request:resources/templates/list", false], ["mcp/request:*/list", "mcp/request:tools/call:list", true],
    ["mcp/request:tools/call:read_*", "mcp/request:tools/call:read_a:b", false], ["mcp/request:tools/call:read_*", "mcp/request:tools/call:write", true],
    ["mcp/request:tools/call:read_*", "mcp/request:tools/call", false], ["a\\*b", "a*b", false], ["a\\*b", "axb", true],
    ["a*bc*c", "abc", true], ["a*bc*c", "abcc", false], ["ab*ba", "aba", true], ["*", "x/y:z", false],
  ]) equal(marked(kind, [pattern]), want, `${kind} against ${pattern}`);
  equal(marked("chat", ["*".repeat(999) + "x"]) && marked("a".repeat(2000), ["*a".repeat(120) + "b"]), true, "many stars");
  equal(marked("chat", [7, null]), false, "no pattern is one");
  return failures;
}
