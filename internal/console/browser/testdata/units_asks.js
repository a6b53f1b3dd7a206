// What is asked of us, as the stream tells it; and how the store tells it in rows.
async (load) => {
  const { Asks } = await load("forms/asks.js");
  const { Store } = await load("room/store.js");
  const failures = [];
  const equal = (got, want, what) => {
    if (JSON.stringify(got) !== JSON.stringify(want)) failures.push(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  };
  let seq = 0;
  const fresh = () => {
    const asks = new Asks("demo", { me: () => "you", changed() {}, failed() {} });
    asks.list = () => {};
    return asks;
  };
  const now = new Date().toISOString();
  const ask = (asks, id, { from = "files", to = ["you"], ts = now, method = "elicitation/create", message = "m" } = {}) =>
    asks.hear({ kind: "mcp/request:elicitation/create", id, from, to, seq: ++seq, ts, payload: { method, params: { message } } });
  const open = (asks) => asks.items.map((a) => a.id);

  { // Whom it is to, what it is, and when.
    const asks = fresh();
    ask(asks, "a");
    ask(asks, "a");
    ask(asks, "b", { to: ["boss"] });
    ask(asks, "c", { method: "tools/call" });
    ask(asks, "d", { ts: "2020-01-01T00:00:00Z" });
    asks.hear({ kind: "mcp/request:elicitation/create:label", id: "e", from: "files", to: ["boss", "you"], seq: ++seq, ts: now, payload: { method: "elicitation/create" } });
    asks.hear({ kind: "mcp/request:elicitation/create", id: "f", from: "files", to: ["you"], seq: ++seq, ts: now, payload: null });
    equal(open(asks), ["a", "e"], "asked");
    ask(asks, "g", { message: { a: 1 } });
    equal(asks.find("g").message, "", "a message that is none");
  }
  { // Answers count from those who were asked, a cancellation from who asked.
    const asks = fresh();
    for (const id of ["a", "b", "c", "d"]) ask(asks, id, { to: ["you", "boss"] });
    const a = asks.find("a");
    const answer = (from, id, kind = "mcp/response:elicitation/create") => asks.hear({ kind, from, correlation_id: id, payload: {} });
    const cancel = (from, params, id) => asks.hear({ kind: "mcp/request:notifications/cancelled", from, correlation_id: id, payload: { params } });
    answer("agent", "a");
    answer("boss", "a", "mcp/reject:elicitation/create");
    cancel("agent", { requestId: "a" });
    equal(open(asks), ["a", "b", "c", "d"], "others end nothing");
    answer("boss", ["x", "a"]);
    answer("you", "b");
    cancel("files", { requestId: "c", reason: "late" });
    cancel("files", { requestId: 7 }, ["d"]);
    equal([open(asks), a.ended], [[], "It was answered by boss."], "ended");
    ask(asks, "a", { to: ["you", "boss"] });
    equal(open(asks), [], "what has ended does not come back");
    answer("you", "later");
    ask(asks, "later");
    equal(open(asks), [], "an end that was heard first");
  }
  { // Our own answer on its way is not somebody else's.
    const asks = fresh();
    ask(asks, "a");
    asks.find("a").sending = true;
    asks.hear({ kind: "mcp/response:elicitation/create", from: "you", correlation_id: "a", payload: {} });
    equal(open(asks), ["a"], "while it is sent");
  }
  { // What waits is bounded, by asker and in all.
    const asks = fresh();
    for (let i = 0; i < 200; i++) ask(asks, `${i}`, { from: `asker-${i % 3}` });
    equal([asks.items.length, asks.more], [48, true], "of one asker");
    for (let i = 200; i < 300; i++) ask(asks, `${i}`, { from: `asker-${i}` });
    equal(asks.items.length, 64, "in all");
    asks.end(asks.items[0], "answered");
    equal(asks.items.length, 63, "there is room");
  }
  { // Rows: what is asked, of whom, and that nobody waits any more.
    const store = new Store();
    const add = (e) => store.add(JSON.stringify({ id: "r" + ++seq, seq, ts: now, from: "files", ...e }));
    store.add(JSON.stringify({ kind: "system/welcome", payload: { you: { id: "you" }, space: { name: "demo" }, history: { epoch: "one" } } }));
    add({ id: "q", kind: "mcp/request:elicitation/create", to: ["you"], payload: { id: 1, method: "elicitation/create", params: { message: "How many?" } } });
    equal([store.rows[0].text, store.rows[0].forUs, store.rows[0].state], ["elicitation/create How many?", true, "running"], "a row");
    add({ from: "agent", kind: "mcp/request:notifications/cancelled", to: ["you"], correlation_id: "q", payload: { method: "notifications/cancelled", params: { requestId: "q" } } });
    equal(store.rows[0].state, "running", "cancelled by another");
    add({ kind: "mcp/request:notifications/cancelled", to: ["you"], payload: { method: "notifications/cancelled", params: { requestId: "q" } } });
    equal([store.rows[0].state, store.rows.length], ["cancelled", 2], "cancelled");
    add({ from: "you", kind: "mcp/response:elicitation/create", correlation_id: "q", payload: { id: 1, result: { action: "accept" } } });
    equal(store.rows[0].state, "done", "answered all the same");
  }
  return failures;
}
