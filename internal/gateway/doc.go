// Package gateway is the runtime of spaces: the edge that participants connect
// to, and what carries one envelope from a socket through the rules and the
// journal to everybody else (sections 2, 5, 6, 9, 10 and 14 of the contract).
//
//	g, err := gateway.New(ctx, gateway.Options{Journal: j, Spaces: spaces})
//	srv := gateway.Server(g.Handler())
//	go srv.Serve(listener)
//	…
//	srv.Shutdown(ctx) // no new connections
//	g.Shutdown(ctx)   // what was accepted is on record and delivered
//	j.Close()
//
// # One envelope's journey
//
//	read.go    a connection's reader: frame, size, parse        → submission
//	room.go    the space's goroutine: judge, stamp, apply       → record
//	journal    group commit                                     → Durable
//	durable.go the frame is built once, appended to the frame log
//	write.go   a connection's writer: one run of frames, one system call
//
// What is guaranteed:
//
//   - Nothing is delivered or acknowledged before it is on record. Where the
//     journal fails, everything since is answered unavailable, and the space's
//     state is rebuilt from the record.
//   - A connection sees system/welcome, then history, then live traffic, in the
//     order of seq, without a hole or a repeat. Acknowledgements and later
//     welcomes keep to that order.
//   - Nobody waits for a slow reader: a connection is a cursor into the frame
//     log, and is closed when it lags too far behind.
//   - A fault in one connection ends that connection only.
//
// # Concurrency
//
// A Gateway may be used from any goroutine. One goroutine per space owns the
// space's state; one per connection reads, and another one writes while there is
// something to write; one per gateway sweeps.
// The journal's goroutine calls into durable.go and never waits there.
// Shutdown waits for all of them.
package gateway
