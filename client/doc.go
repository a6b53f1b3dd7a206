// Package client is the SDK for participants: whoever joins a Parley room from
// a Go program.
//
//	room, err := client.Dial(ctx, "http://127.0.0.1:7717", &client.Options{
//		Token: os.Getenv("PARLEY_TOKEN"),
//		Space: "demo",
//	})
//	if err != nil {
//		return err
//	}
//	defer room.Close()
//
//	if _, err := room.Chat(ctx, "hello"); err != nil {
//		return err
//	}
//	reply, err := room.Request(ctx, "files", "tools/call", map[string]any{
//		"name": "read_file", "arguments": map[string]any{"path": "a.txt"},
//	})
//
// What a participant may not request it proposes, and somebody who may
// fulfils it:
//
//	p, err := room.Propose(ctx, "files", "tools/call", params, client.Reason("the report is due"))
//	…
//	outcome, err := p.Wait(ctx)
//
// Requests that are addressed to us go to [Options.Handler], everything that
// happens in the room to [Room.Envelopes]. [API] reads over HTTP what is on
// record, and needs no place in the room.
//
// A line of reasoning or a workflow has a context of its own, which others may
// follow or leave out:
//
//	ctx, thinking := room.Context(ctx, "reasoning")
//	thinking.Think(ctx, "this would overwrite two files")
//	thinking.Conclude(ctx, map[string]any{"decision": "ask first"})
//
// [API.History] reads what is on record, narrowed down by contexts, and
// [Transcript] makes of it what a model is told.
//
// # What is guaranteed
//
//   - A [Room] outlives its connections. It connects again, after longer and
//     longer pauses, and resumes by position: what happened in between arrives
//     exactly once. Where the gateway no longer has it, [State.Gap] and a
//     [*Gap] in [Room.Envelopes] say so.
//   - A send returns when the gateway has admitted or refused the envelope. What
//     was not acknowledged when a connection broke is sent again with the same
//     id, which the gateway admits once.
//   - Nothing that arrives is dropped in silence. A consumer of [Room.Envelopes]
//     that is too slow makes the room stop reading, until the gateway closes the
//     connection and the room resumes; [Stats] counts it.
//   - What arrives is decoded strictly; system/* is believed only of the gateway;
//     a request whose kind contradicts its payload is answered with JSON-RPC
//     error −32600 and never handed to a [Handler] (section 3 of the contract).
//   - A request is handed to a handler once, also where it arrives again, and is
//     answered once.
//
// Refusals are a [*parley.Error], whether they come by WebSocket or by HTTP.
// Errors of the one who was asked are a [*RPCError].
//
// # Concurrency
//
// All methods may be called from any goroutine, and any number may wait at the
// same time. A room owns one goroutine, two more while it is connected, and one
// for each request that is being handled; [Room.Close] waits for all of them.
// Envelopes that were received are shared: do not change them.
package client
