// Package jsonrpc takes JSON-RPC 2.0 messages apart and puts them together
// without touching what is in them: params, results, errors and ids stay the
// bytes that somebody wrote, big numbers, unknown members and the order of
// properties included.
//
// [Decode] is strict where two parsers could read one message differently:
// duplicate names and invalid UTF-8 come back as a [Message] with a Fault, and so
// does what nests too deep, so that the call which it answers can fail instead of
// waiting for ever.
//
// # Concurrency
//
// All functions may be called from any goroutine. Values are slices of what was
// given, which must not change afterwards.
package jsonrpc
