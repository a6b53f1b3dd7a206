// The past: questions, chains, playing again. One function, as in units.js.
async (load) => {
  const { asked } = await load("search/question.js");
  const { Chain } = await load("search/chain.js");
  const { Player } = await load("search/player.js");
  const { Store } = await load("room/store.js");
  const { parseHead } = await load("record/record.js");
  const failures = [];
  const equal = (got, want, what) => {
    if (JSON.stringify(got) !== JSON.stringify(want)) failures.push(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  };
  const question = (given) => ({ q: "", from: "", to: "", kind: "", context: "", subtree: "", since: "", until: "", ...given });
  { // Questions.
    const now = Date.parse("2026-03-01T12:00:00Z");
    equal(asked(question({}), now), [], "nothing in particular");
    equal(asked(question({ q: " a b ", since: "1h", subtree: "true" }), now), [["q", "a b"], ["since", "2026-03-01T11:00:00.000Z"]], "the last hour");
    equal(asked(question({ context: "c", subtree: "true", until: "2026-01-01T00:00:00+02:00" }), now), [["context", "c"], ["subtree", "true"], ["until", "2025-12-31T22:00:00.000Z"]], "until");
    let problem = "";
    try {
      asked(question({ since: "yesterday" }), now);
    } catch (error) {
      problem = error.message;
    }
    equal(problem, "“yesterday” is no time.", "no time");
  }
  { // A player, with a clock of its own.
    let due = [];
    const player = new Player({ moved() {}, timer: { set: (fn, ms) => due.push({ fn, ms }) - 1, clear: (t) => (due[t] = undefined) } });
    const at = (s) => new Date(Date.UTC(2026, 0, 1, 0, 0, s)).toISOString();
    player.messages = [{ ts: at(0), text: "x".repeat(44) }, { ts: at(2), text: "" }, { ts: at(3600), text: "x".repeat(9999) }, { ts: at(3600), text: "" }];
    const next = () => {
      const [one] = due.filter(Boolean);
      due = [];
      one?.fn();
      return one?.ms;
    };
    player.play();
    equal([player.at, player.playing, next(), player.at], [0, true, 2500, 1], "reading, and a quarter of the pause");
    equal([next(), player.at], [2000, 2], "an hour is a moment");
    player.faster(2);
    equal([player.speed, next(), player.at, player.playing], [4, 1500, 3, false], "four times as fast, to the end");
    player.play();
    equal(player.at, 0, "and again");
    player.step(1);
    equal([player.at, player.playing, due.filter(Boolean).length], [1, false, 0], "a step pauses");
    player.step(-9);
    equal(player.at, 0, "not before the beginning");
    equal([player.gap(0), player.gap(2)], [0, 3598000], "gaps");
  }
  { // Older rows come in front, and what is known of them goes there.
    const e = (seq, o) => ({ id: "e" + seq, seq, ts: "2026-01-01T00:00:00.000Z", from: "agent", ...o });
    const store = new Store();
    store.add(JSON.stringify({ kind: "system/welcome", payload: { you: { id: "you" }, history: { epoch: "one", first: 1 } } }));
    for (const one of [
      e(5, { from: "you", kind: "mcp/request:tools/call", correlation_id: ["thought", "e2"], amends: true, payload: { id: 1 } }),
      e(6, { from: "boss", kind: "mcp/reject:tools/call", correlation_id: "e3", payload: { reason: "unsafe" } }),
      e(7, { from: "files", kind: "mcp/response:tools/call", correlation_id: "e5", payload: { result: 1 } }),
      e(8, { from: "files", kind: "mcp/response:tools/call", correlation_id: "e4", payload: { error: { message: "no" } } }),
    ]) store.add(JSON.stringify(one));
    equal(store.rows.map((r) => [r.type, r.state]), [["call", "done"], ["other", "rejected"], ["answer", "failed"]], "without what they answer");
    equal(store.hasOlder, true, "there is more");
    store.addOlder([
      e(1, { kind: "reflection", context: "c", payload: {} }),
      e(2, { kind: "mcp/proposal:tools/call", payload: {} }), e(3, { kind: "mcp/proposal:tools/call", payload: {} }), e(4, { kind: "mcp/request:tools/call", payload: { id: 2 } }),
    ]);
    const shown = store.rows.filter((r) => !r.into);
    equal(shown.map((r) => [r.n, r.type, r.state, r.by]), [[-4, "other", "", undefined], [-3, "proposal", "done", "you"], [-2, "proposal", "rejected", "boss"], [-1, "call", "failed", undefined]], "in front");
    equal([store.rows[0].n, store.first, store.hasOlder, shown[1].amended, shown[2].answer], [-4, -4, false, true, "unsafe"], "numbers");
    store.add(JSON.stringify(e(9, { kind: "chat", payload: { text: "on" } })));
    equal([store.rows.at(-1).n, store.contexts.get("c").count, store.byID.get("e7") === shown[1]], [3, 1, true], "and it goes on");
  }
  { // A chain of what nobody knows is told plainly, whatever it holds.
    const odd = [null, 1, "x", [], {}, { method: {}, params: [] }, { result: 1, error: null }];
    for (const kind of ["chat", "mcp/request:x", "mcp/response:x", "mcp/proposal:x", "mcp/reject:x", "system/notice", "acme/new"]) {
      for (const payload of odd) {
        const chain = new Chain([{ id: "a", seq: 1, ts: "", from: "agent", kind, payload, context: "c" }, { id: "b", seq: 2, ts: "x", from: "you", kind, payload, correlation_id: "a" }], "a");
        if (!Array.isArray(chain.story())) failures.push("no story of " + kind);
      }
    }
  }
  { // What was decided before an action is no summary, unless there is nothing else.
    const said = (seq, metadata) => ({ id: "e" + seq, seq, ts: "2026-01-01T00:00:00.000Z", from: "ann", kind: "conclusion", payload: {}, context: { id: "c", metadata } });
    const acted = { id: "e9", seq: 9, ts: "2026-01-01T00:00:00.000Z", from: "ann", kind: "mcp/request:tools/call", to: ["files"], payload: { method: "tools/call", params: {} } };
    const concluded = (...list) => new Chain([...list, acted], "e9").thought().conclusion?.id;
    equal(concluded(said(1), said(2, { summary_of: "c" })), "e1", "a decision and a summary");
    equal(concluded(said(1, { summary_of: "c" })), "e1", "a summary alone");
    equal(concluded(said(1), said(2, { summary_of: "other" })), "e2", "what is of another context");
    equal(concluded(), undefined, "nothing");
  }
  { // Heads.
    const hash = "ab".repeat(32);
    equal(parseHead(` 12:7:${hash}\n`), { index: 12, seq: 7, hash }, "a head");
    equal(parseHead(`{"head":"12:7:${hash.toUpperCase()}"}`), { index: 12, seq: 7, hash }, "as JSON");
    for (const bad of ["", "12:7", `7:12:${hash}`, `012:7:${hash}`, `12:7:${hash}0`, "{", "{}", null]) {
      let refused = false;
      try {
        parseHead(bad);
      } catch {
        refused = true;
      }
      equal(refused, true, `no head: ${bad}`);
    }
  }
  return failures;
}
