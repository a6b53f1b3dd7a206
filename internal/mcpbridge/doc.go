// Package mcpbridge makes an MCP server a participant of a room.
//
// This half of it is the server's side. [Connect] starts a command that speaks
// MCP over its standard streams, or reaches a Streamable HTTP endpoint, makes
// the handshake, and gives an [Upstream]:
//
//	u, err := mcpbridge.Connect(ctx, mcpbridge.Server{Command: "parley", Args: []string{"tools", "files", "."}}, nil)
//	if err != nil {
//		return err
//	}
//	defer u.Close()
//	result, err := u.Call(ctx, "tools/list", nil, nil)
//
// [Supervisor] keeps one connected: it starts the server again, after longer
// and longer pauses, whenever it dies.
//
// [Bridge] is the room's side: it joins while the server is up, and turns
// requests of the room into calls and back.
//
// # Eras
//
// Servers of both are spoken to. A legacy one (up to 2025-11-25) has sessions:
// the base session keeps it in the room, and a caller whom it could ask
// something has one of its own, in which that is declared. A modern one has
// none: each call says what its caller can be asked, and the answer may be a
// question. Which one it is server/discover tells, asked once for each
// connection; everything else follows from [Info].
//
// What the server asks goes to the caller where it can answer, else to whoever
// serves that for the space, else it is refused. Where some of a modern server's
// questions go one way and some the other, the answers that are there travel
// with the caller, sealed in a requestState.
//
// # What is guaranteed
//
//   - Params and results cross as they are: big numbers, unknown members, the
//     order of properties. JSON-RPC ids are the bridge's own on this side, and a
//     server's ids come back to it as it wrote them. With [Join].Wrap the results
//     of tools, and their definitions, are in the envelope of package response.
//   - What is handed on is strict JSON. An answer with a duplicate name or
//     invalid UTF-8, which the room would have to refuse, fails its call.
//   - A server is not trusted: what is read of it is bounded, nothing that it
//     writes ends more than its own connection, and it sees only the environment
//     that it was given.
//   - When it dies every call in flight fails at once with [ErrServerGone]. When
//     it is closed nothing of it remains, neither what its command started nor
//     a goroutine.
//
// # Concurrency
//
// All methods may be called from any goroutine, and any number of calls may be
// in flight. A connection's goroutines end before [Upstream.Wait] and
// [Upstream.Close] return. Functions in [Options] run on them.
package mcpbridge
