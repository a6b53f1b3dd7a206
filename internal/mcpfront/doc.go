// Package mcpfront makes a space an MCP server: any MCP client walks in at
// /mcp, /mcp/{space} or /mcp/{space}/{participant}, over Streamable HTTP, in
// both eras of the protocol (2025-11-25 and 2026-07-28).
//
//	front := mcpfront.New(house, mcpfront.Options{})
//	defer front.Close()
//	err := front.Serve(w, r) // of whoever routes /mcp here
//
// A client acts as the participant that its token belongs to. What it asks of
// a server of the space becomes an mcp/request in the room or, where it may not
// send that, an mcp/proposal that somebody decides on: the way of every other
// envelope, with nothing but the participant's own rights.
//
// # One call's way
//
//	http.go       a POST is read and its era told: session.go, modern.go
//	dispatch.go   the method is looked up
//	lists.go      what the caller may see: names.go, offer.go, builtin.go
//	call.go       a request in the room, through its participant's seat (seat.go)
//	approve.go    or a proposal, which is held, awaited and collected (handover.go, lastround.go)
//	flight.go     what a server asks back on the way, also when it is late (late.go)
//	budget.go     what is too large for the client is cut, to be read on with result.go
//	outlet.go     and all that goes back to the client, in its order
//
// # What is guaranteed
//
//   - Params and results cross as they are, but for names and URIs in the shared
//     endpoint, _meta, and the members that the client's era requires.
//   - A list holds what the caller may request or propose, by the decision that
//     judges the call.
//   - A call that waits for approval is never proposed twice: the same call made
//     again finds its proposal, or the result that nobody fetched yet, also after
//     a restart.
//   - What a client can make grow is bounded: sessions, calls, streams.
//
// # Concurrency
//
// Front's methods may be called from any goroutine. A call runs on the goroutine
// of its HTTP request, unless it may have to outlive it. Close ends all of them,
// and waits.
package mcpfront
