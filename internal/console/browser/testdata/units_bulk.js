// Several proposals: which are chosen, and what becomes of each.
async (load) => {
  const { Bulk } = await load("approvals/bulk.js");
  const { Selection } = await load("approvals/selection.js");
  const { differences } = await load("base/json_text.js");
  const { Amendment, editable } = await load("approvals/amendment.js");
  const failures = [];
  const equal = (got, want, what) => {
    if (JSON.stringify(got) !== JSON.stringify(want)) failures.push(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
  };
  const list = Array.from({ length: 6 }, (_, i) => ({ id: "p" + i }));

  { // Choosing.
    const s = new Selection();
    const chosen = () => list.map((p) => (s.has(p.id) ? "x" : ".")).join("");
    s.toggle(list, "p1");
    s.toggle(list, "p4", true);
    equal(chosen(), ".xxxx.", "a range");
    s.toggle(list, "p3", true);
    equal(chosen(), ".xx...", "a range that is let go");
    s.toggle(list.slice(2), "p5", true);
    equal(chosen(), ".xxxxx", "a range from one that is listed still");
    s.keep(list.slice(2, 4));
    equal(chosen(), "..xx..", "what is no longer listed");
    s.last = "gone";
    s.toggle(list, "p0", true);
    equal(chosen(), "x.xx..", "a range from nowhere is one");
    s.clear();
    equal(s.size, 0, "none");
  }

  const problem = (code, more) => Object.assign(new Error("why"), { code, problem: more ?? {} });
  const make = (answers, meanwhile = () => undefined) => {
    const sent = [];
    let n = 0;
    const waits = [];
    const bulk = new Bulk(list, {
      newID: () => "id" + n++,
      changed() {},
      wait: async (ms) => void waits.push(ms),
      meanwhile,
      send: async (one, given) => {
        sent.push([one.id, one.requestID, given]);
        const answer = await answers(one, sent.length);
        if (answer) throw answer;
      },
    });
    return { bulk, sent, waits };
  };
  const states = (bulk) => bulk.items.map((one) => one.state).join(" ");

  { // Each once, under an id of its own.
    const { bulk, sent } = make(() => undefined);
    await bulk.run("why");
    equal(sent, list.map((p, i) => [p.id, "id" + i, "why"]), "sent");
    equal(bulk.count("rejected"), 6, "rejected");
    await bulk.run("why");
    equal(sent.length, 6, "nothing twice");
  }
  { // Refusals: of others' decisions, of a lost answer, and real ones, which are tried again under the same id.
    let broken = true;
    const { bulk, sent } = make((one) => {
      if (one.id === "p1") return problem("proposal_closed");
      if (one.id === "p2") return problem("duplicate_id");
      if (one.id === "p3" && broken) return problem("capability_violation");
    });
    await bulk.run("why");
    equal(states(bulk), "rejected decided rejected failed rejected rejected", "refused");
    equal([bulk.items[1].how, bulk.items[3].why], ["why", "capability_violation: why"], "the reasons");
    broken = false;
    bulk.again();
    await bulk.run("why");
    equal(states(bulk), "rejected decided rejected rejected rejected rejected", "again");
    equal(sent.filter(([id]) => id === "p3").map(([, request]) => request), ["id3", "id3"], "the same id");
  }
  { // The gateway's patience is asked for, within bounds.
    const { bulk, waits } = make((one, n) => (n < 3 ? problem("rate_limited", { retry_after_ms: 1e9 }) : undefined));
    await bulk.run("why");
    equal([bulk.count("rejected"), waits], [6, [10_000, 10_000]], "waited");
    const never = make(() => problem("rate_limited"));
    await never.bulk.run("why");
    equal([never.bulk.count("failed"), never.sent.length], [6, 72], "at most so often");
  }
  { // Stopped, what was not sent yet is left.
    const { bulk, sent } = make(() => void bulk.stop());
    await bulk.run("why");
    equal([bulk.count("rejected"), bulk.count("waiting"), sent.length, bulk.running], [sent.length, 6 - sent.length, sent.length, false], "stopped");
    equal(sent.length < 6, true, "some are left");
  }
  { // What others decide before its turn is not sent.
    const { bulk, sent } = make(() => undefined, (one) => (one.id === "p2" ? { state: "running", by: "boss" } : one.id === "p3" ? { state: "rejected", own: true } : undefined));
    await bulk.run("why");
    equal([states(bulk), sent.length], ["rejected rejected decided rejected rejected rejected", 4], "meanwhile");
  }

  { // What is edited, and what is sent.
    equal(editable("tools/call", '{"name":"w"}'), ["arguments", "{}"], "a tool without arguments");
    equal(editable("tools/list", "{}"), ["", "{}"], "a method without any");
    const proposal = '{"id":"p","kind":"mcp/proposal:tools/call:w:\\"x","to":["files"],"payload":{"reason":"r","method":"tools/call","params":{"name":"w:\\"x","arguments":{"n":1.00,"s":"\\u0041"},"_meta":{ "a":1}}}}';
    const make = (limits, me = "you") => new Amendment({ me, space: "demo", info: JSON.parse(proposal), text: proposal, limits });
    const a = make({ envelope_bytes: 400, nesting: 128 });
    equal([a.same, a.wrong()], [true, undefined], "as proposed");
    a.edit(a.text.replace("1.00", "2.50"));
    const sent = a.envelope({ id: "r1", to: "files" });
    equal(sent, '{"id":"r1","kind":"mcp/request:tools/call:w:\\"x","to":["files"],"correlation_id":"p","amends":true,"payload":{"method":"tools/call","params":{"name":"w:\\"x","arguments":{"n":2.50,"s":"\\u0041"},"_meta":{ "a":1}}}}', "the envelope");
    equal(differences(proposal, sent).length > 0 && a.same, false, "it differs");
    equal(make().text, a.text, "the draft is kept");
    equal(make(undefined, "boss").text, a.original, "and is nobody else's");
    a.edit(a.text.replace('"n"', `"${"n".repeat(300)}"`));
    equal(a.wrong().message, "the call would have 545 bytes, and at most 400 bytes are taken", "too large");
    a.edit("[".repeat(126) + "]".repeat(126));
    equal(a.wrong().message, "this is nested more than 125 deep", "too deep");
    a.done();
    equal(make().text, a.original, "what was sent is no draft");
  }
  return failures;
}
