// Package parley is the vocabulary of a Parley room: the [Envelope] that
// everything travels in, the [Kind] that says what it is, the [Capability]
// that says who may send it, the [Position] where it stands in its space's
// order, and the [Error] codes of whatever is refused.
//
// It also holds the one strict codec. [Decode] is a security boundary: it
// refuses every message that two parsers could read differently, and nothing
// else in the tree decodes an envelope. Payloads are validated and carried
// byte for byte.
//
// # Concurrency
//
// Values of this package are plain data. Decoded envelopes are shared between
// goroutines and must not be changed once they were handed on; every function
// may be called from any goroutine.
package parley
