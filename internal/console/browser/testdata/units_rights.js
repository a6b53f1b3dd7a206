// Capabilities in words, and made of what was chosen.
async (load) => {
  const { capabilityOf, text, ungranted, words } = await load("people/rights.js");
  const failures = [];
  const equal = (got, want, what) => {
    if (JSON.stringify(got) !== JSON.stringify(want)) failures.push(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  };

  for (const [capability, want] of [
    ["*", "may send anything"],
    ["chat", "may say something"],
    ["!chat", "may not say something"],
    ["mcp/*", "may call, propose, answer and decide anything"],
    ["mcp/request", "may make any call"],
    ["mcp/request:*", "may make any call"],
    ["mcp/request:tools/call", "may call any tool"],
    ["mcp/request:tools/call:*", "may call any tool"],
    ["mcp/request:tools/call:read_*", "may call tools named read_*"],
    ["mcp/request:tools/call:write_file", "may call the tool write_file"],
    ["mcp/request:*/list", "may list what others offer"],
    ["mcp/request:notifications/*", "may send progress and other notifications"],
    ["mcp/request:resources/read:file:///w/*", "may read file:///w/*"],
    ["mcp/request:tools/list", "may request tools/list"],
    ["mcp/proposal:*", "may propose any call"],
    ["mcp/proposal:tools/call:x", "may propose calls of the tool x"],
    ["!mcp/request:tools/call:delete_*", "may not call tools named delete_*"],
    ["mcp/response:*", "may answer calls"],
    ["mcp/response:sampling/createMessage", "may answer for a model"],
    ["mcp/response:toString", "may answer toString"],
    ["toString", "may send toString"],
    ["capability/*", "may grant and revoke what it may send itself"],
    ["space/kick", "may close somebody's connections"],
    ["acme/build-status", "may send acme/build-status"],
    ["acme/*:a:b", "may send acme/*:a:b"],
    [{ kind: "mcp/request:tools/call:read_*", to: ["files"] }, "may call tools named read_* at files"],
    [{ kind: "mcp/request:tools/call", to: ["a", "b"], context: { type: "reasoning" } }, "may call any tool at a or b within contexts of type reasoning"],
    [{ kind: "chat", to: ["boss"] }, "may say something to boss"],
    [{ kind: "mcp/request:tools/call:w", params: { arguments: { path: "/w/*", n: [1, 2], deep: { a: { b: true } }, more: "x" } } },
      "may call the tool w, where arguments.path is /w/* and arguments.n is 1 or 2 and arguments.deep.a.b is true and more"],
    [{ kind: "!mcp/request:tools/call:w", params: { arguments: { path: "/etc/*" } } }, "may not call the tool w, where arguments.path is /etc/*"],
    [undefined, "is not understood here"],
    [7, "is not understood here"],
    [{ to: "x" }, "is not understood here"],
  ]) equal(words(capability), want, text(capability));
  equal(words("mcp/request:tools/call:" + "x".repeat(5000)).length < 300, true, "a long name is cut");

  { // What no grant gave.
    const grants = [{ capabilities: ["chat", { kind: "note", to: ["a"] }] }];
    equal(ungranted(["chat", "mcp/*", "chat", { kind: "note", to: ["a"] }, "!x"], grants), ["mcp/*", "chat", "!x"], "ungranted");
    equal(ungranted([], grants), [], "a grant that gave nothing new");
  }

  for (const [chosen, want] of [
    [{ choice: "call" }, "mcp/request:tools/call"],
    [{ choice: "call", tool: " * " }, "mcp/request:tools/call"],
    [{ choice: "call", tool: "read_*" }, "mcp/request:tools/call:read_*"],
    [{ choice: "call", tool: "read_*", server: "files" }, { kind: "mcp/request:tools/call:read_*", to: ["files"] }],
    [{ choice: "call", tool: "w", server: "files", context: "reasoning" }, { kind: "mcp/request:tools/call:w", context: { type: "reasoning" }, to: ["files"] }],
    [{ choice: "chat", tool: "w", server: "files" }, "chat"],
    [{ choice: "chat", context: "plan" }, { kind: "chat", context: { type: "plan" } }],
    [{ choice: "any-proposal", server: "files" }, { kind: "mcp/proposal:*", to: ["files"] }],
    [{ choice: "own", own: " acme/* " }, "acme/*"],
    [{ choice: "own", own: '{"kind":"chat"}' }, { kind: "chat" }],
    [{ choice: "no such" }, "mcp/request:tools/call"],
  ]) equal(capabilityOf(chosen), want, JSON.stringify(chosen));
  let thrown = "";
  try {
    capabilityOf({ choice: "own", own: "{kind" });
  } catch (e) {
    thrown = e.name;
  }
  equal(thrown, "SyntaxError", "no JSON");
  return failures;
}
