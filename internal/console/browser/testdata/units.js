// What needs no page: the room's state, raw JSON, text. One function, so that Node
// and a browser run the same: load(name) is a module of the console.
async (load) => {
  const { Store, matches } = await load("room/store.js");
  const { at, items, indent } = await load("base/raw.js");
  const { visible, clip, oneLine } = await load("base/text.js");
  const failures = [];
  const equal = (got, want, what) => {
    if (JSON.stringify(got) !== JSON.stringify(want)) failures.push(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  };
  let seq = 0;
  const add = (store, e) => store.add(JSON.stringify({ id: "e" + (seq + 1), seq: ++seq, ts: "2026-01-02T09:00:00.000Z", from: "agent", ...e }));
  const welcome = (store, history, participants = []) =>
    store.add(JSON.stringify({ kind: "system/welcome", payload: { you: { id: "you" }, participants, space: { name: "demo" }, history } }));
  const fresh = (o) => {
    const store = new Store(o);
    seq = 0;
    welcome(store, { epoch: "one", first: 1, last: 0 });
    return store;
  };
  const states = (store) => store.rows.map((r) => [r.type, r.state]);

  { // A proposal, its approval and the answer are one row.
    const s = fresh();
    add(s, { kind: "mcp/proposal:tools/call", to: ["files"], payload: { method: "tools/call", params: { name: "w", arguments: { n: 1 } } } });
    add(s, { kind: "mcp/request:tools/call", from: "you", correlation_id: "e1", payload: { id: 1, method: "tools/call", params: {} } });
    equal(states(s), [["proposal", "running"]], "approved");
    equal(s.rows[0].by, "you", "who approved");
    add(s, { kind: "mcp/response:tools/call", from: "files", correlation_id: ["e2"], payload: { id: 1, result: { content: [{ type: "text", text: "ok" }] } } });
    equal(states(s), [["proposal", "done"]], "answered");
    equal(s.rows[0].answer, "ok", "the answer");
    equal(s.rows[0].text, 'tools/call w {"n":1}', "what was proposed");
    add(s, { kind: "mcp/reject:tools/call", from: "boss", correlation_id: "e1", payload: { reason: "unsafe" } });
    equal(states(s), [["proposal", "done"]], "the first end wins");
  }
  { // The proposer's own request with the proposal's id is no approval.
    const s = fresh();
    add(s, { kind: "mcp/proposal:tools/call", payload: { method: "tools/call" } });
    add(s, { kind: "mcp/request:tools/call", correlation_id: "e1", payload: { id: 1, method: "tools/call" } });
    equal(s.rows[0].state, "open", "not approved by its proposer");
  }
  { // Rejected, withdrawn, expired; failed calls.
    const s = fresh();
    for (let i = 0; i < 4; i++) add(s, { kind: "mcp/proposal:tools/call", payload: { method: "tools/call" } });
    add(s, { kind: "mcp/reject:tools/call", from: "you", correlation_id: "e1", payload: { reason: "unsafe", message: "no" } });
    add(s, { kind: "mcp/withdraw:tools/call", correlation_id: "e2", payload: { reason: "other" } });
    add(s, { kind: "system/notice", from: "system:gateway", correlation_id: "e3", payload: { event: "proposal_expired", proposal: "e3" } });
    add(s, { kind: "mcp/request:tools/call", payload: { id: 1, method: "tools/call" } });
    add(s, { kind: "mcp/response:tools/call", correlation_id: "e8", payload: { id: 1, error: { code: 1, message: "broken" } } });
    equal(states(s), [["proposal", "rejected"], ["proposal", "withdrawn"], ["proposal", "expired"], ["proposal", "open"], ["call", "failed"]], "ends");
    equal(s.rows[0].answer, "unsafe: no", "why");
    equal(s.rows[4].answer, "broken", "the error");
  }
  { // What was handled counts once, over reconnects as well.
    const s = fresh();
    add(s, { kind: "chat", payload: { text: "a" } });
    add(s, { kind: "chat", payload: { text: "b" } });
    welcome(s, { epoch: "one", first: 1, last: 2 });
    seq = 0;
    equal(add(s, { kind: "chat", payload: { text: "a" } }), false, "again");
    add(s, { kind: "chat", payload: { text: "b" } });
    add(s, { kind: "chat", payload: { text: "c" } });
    equal(s.rows.map((r) => r.text), ["a", "b", "c"], "no doubles");
    welcome(s, { epoch: "one", first: 9, last: 12, gap: true });
    equal(s.rows.at(-1).state, "gap", "a gap is told");
    welcome(s, { epoch: "two", first: 1, last: 0 });
    equal([s.rows.length, s.last, s.rows[0].state, s.epoch], [1, 0, "gap", "two"], "another record");
  }
  { // Memory is bounded, and row numbers go on.
    const s = fresh({ maxRows: 100 });
    for (let i = 0; i < 1000; i++) add(s, { kind: "chat", payload: { text: "m" + i } });
    equal(s.rows.length <= 100 && s.byID.size <= 100, true, "at most maxRows");
    equal(s.rows.at(-1).n, 999, "row numbers");
    equal(s.rows[0].n, s.first, "the first row's number");
    add(s, { kind: "chat", payload: { text: "W".repeat(1_000_000) } });
    equal(s.rows.at(-1).text.length < 700, true, "a row's text is short");
  }
  { // Presence, threads, refusals.
    const s = fresh();
    welcome(s, { epoch: "one" }, [{ id: "you" }, { id: "agent" }]);
    add(s, { kind: "system/presence", from: "system:gateway", payload: { event: "join", participant: { id: "x" } } });
    add(s, { kind: "system/presence", from: "system:gateway", payload: { event: "leave", participant: { id: "agent" } } });
    equal([[...s.people.keys()], s.peopleTotal, s.rows.length], [["you", "x"], 2, 0], "presence");
    for (const context of [{ id: "r1", type: "reasoning" }, { id: "r2", parent: "r1" }, { id: "r1" }]) add(s, { kind: "reflection", context, payload: { thought: "t" } });
    equal([...s.contexts.values()].map((c) => [c.id, c.count]), [["r2", 1], ["r1", 2]], "threads");
    s.add(JSON.stringify({ kind: "system/error", from: "system:gateway", to: ["you"], correlation_id: "mine", payload: { error: "rate_limited", message: "too fast" } }));
    equal([s.rows.at(-1).type, s.rows.at(-1).text], ["refusal", "rate_limited: too fast"], "refused");
  }
  { // Nothing that is sent throws.
    const s = fresh();
    const odd = [null, 1, "x", [], {}, { text: {} }, { method: {}, params: [] }, { result: 1, error: null }, { tools: [null], event: "tools_seen" }, { __proto__: null, toString: 1 }];
    for (const kind of ["chat", "mcp/request:x", "mcp/response:x", "mcp/proposal:x", "mcp/reject:x", "system/notice", "system/presence", "acme/new"]) {
      for (const payload of odd) add(s, { kind, payload, correlation_id: "e1", context: "a/b" });
    }
    s.add("{");
    equal(s.rows.at(-1).state, "unreadable", "no JSON");
  }
  { // Filters.
    const row = { from: "a", to: ["b"], kind: "mcp/request:tools/call:w", context: "c", text: "Hello World", ids: ["0123456789"] };
    for (const [filter, want] of [[{}, true], [{ from: "b" }, true], [{ from: "c" }, false], [{ kind: "mcp/request:tools/call" }, true], [{ kind: "mcp/req" }, false], [{ q: "world hello" }, true], [{ q: "1" }, false], [{ q: "12345678" }, true], [{ context: "d" }, false]]) {
      equal(matches(row, filter), want, JSON.stringify(filter));
    }
  }
  { // Raw JSON.
    const text = ' {"a":{"x\\"}":1, "b" : [ 1.50 , "\\u0041]", {"c":12345678901234567890}] }, "a2":null}';
    equal(at(text, "a", "b"), '[ 1.50 , "\\u0041]", {"c":12345678901234567890}]', "a member");
    equal(at(text, "a", "b", 2, "c"), "12345678901234567890", "an item's member");
    equal(at(text, "a", "z"), undefined, "none");
    equal(at('{"\\u0061":1}', "a"), "1", "an escaped name");
    equal(items(at(text, "a", "b")), ["1.50", '"\\u0041]"', '{"c":12345678901234567890}'], "items");
    equal(indent('{"a":[1.50,{}],"b":[]}'), '{\n  "a": [\n    1.50,\n    {}\n  ],\n  "b": []\n}', "indented");
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    equal(at(`{"a":${deep}}`, "a").length, deep.length, "deep");
  }
  { // Text.
    equal(visible("a\u202eb\u200b\u0007\n\t"), "a⟨U+202E⟩b⟨U+200B⟩⟨U+0007⟩\n\t", "hidden characters");
    equal(visible("👩‍💻 ❤️ a\ufe0f \u{e0041}"), "👩‍💻 ❤️ a⟨U+FE0F⟩ ⟨U+E0041⟩", "emoji stay");
    equal(oneLine("a\r\nb"), "a ⏎ b", "one line");
    equal(clip("abc", 3), "abc", "not cut");
    equal(clip("ab👩c", 3), "ab… (3 more)", "not within a pair");
  }
  return failures;
}
