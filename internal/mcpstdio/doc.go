// Package mcpstdio lets an MCP client that speaks over standard input and output
// use a server over Streamable HTTP: messages cross as the bytes that they are,
// ids included, each on one line.
//
//	err := mcpstdio.Run(ctx, mcpstdio.Options{URL: "http://127.0.0.1:7717/mcp/demo", Token: token, In: os.Stdin, Out: os.Stdout})
//
// Requests of 2026-07-28 are told by their _meta and stand alone. All others belong
// to the session that the client's initialize begins.
//
// # What is guaranteed
//
// Nothing but protocol is written to Out, and each request is answered once, or
// not at all where the client cancelled it. A server that went away is waited for,
// and a session that it forgot is begun anew in the client's own words. A request is
// sent again only where nothing of the first attempt can have arrived, where the
// server refused it unread, or where it can only read; all others are answered with
// outcome_unknown. What is under way is bounded, and so is every message.
//
// # Concurrency
//
// Run returns when nothing of it runs any more, except for a pending read of In
// or write to Out, which only their other ends can finish.
package mcpstdio
