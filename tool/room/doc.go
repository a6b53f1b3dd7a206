// Package room takes a tool server into a Parley room as a participant, without
// MCP in between: who asks for a tool, whom the tool asks while it runs, and what
// they answer is all in the room's record.
//
//	server, err := tool.NewServer(tool.Options{Name: "reviewer", Runs: "runs"})
//	…
//	tool.AddHandoff(server, review, handoff)
//	err = room.Serve(ctx, server, "http://127.0.0.1:7717", room.Options{
//		Token: os.Getenv("PARLEY_TOKEN"),
//		Space: "demo",
//		Serves: map[string][]string{"sampling": {"model"}, "elicitation": {"ann"}},
//	})
//
// The participant answers as a bridged MCP server does: initialize, ping,
// tools/list and tools/call, as mcp/request addressed to it (docs/mcp.md). With
// serves: [tools] in the gateway's configuration MCP clients are shown its tools.
// It needs the capabilities mcp/response:* and mcp/request:notifications/*, and
// for what its tools ask mcp/request:sampling/createMessage and
// mcp/request:elicitation/create.
//
// # Who answers a tool
//
// A question goes to the caller where its call declares that
// (io.modelcontextprotocol/clientCapabilities in _meta), the proposer's where the
// call was approved; else to the first of [Options.Serves] who is in the room. Where
// nobody is, a tool that needs it is not begun. A question belongs to its call, by
// correlation_id, and is in the context of the branch that asks, which is below
// that of the call.
//
// # Restarts
//
// With tool.Options.Runs the runs of handoffs outlive the program. When it comes
// back, calls without an answer are gone on with: what was asked before is not
// asked again, and an answer that was given meanwhile counts. Calls of which
// nothing was kept are answered with an error whose data says outcome_unknown.
//
// # What is guaranteed
//
//   - A call is begun once and answered once, whatever becomes of connections.
//   - The id of a question's envelope follows from its call, the question and the
//     token: the gateway takes it once, and nobody else knows it before. With
//     another token a run that is gone on with asks anew what has no answer on disk.
//   - Only whom the question went to can answer it.
//   - Who cancels a call ends its run, and whoever has an open question of it is
//     told that nobody waits any more.
//   - Everybody else in the room is hostile: calls are bounded, in all and for each
//     caller.
//
// # Concurrency
//
// Each call has a goroutine, which ends before [Serve] returns. A tool's function
// that does not heed its context keeps Serve waiting.
package room
