// Package sampling is what a tool and a language model say to each other,
// as values: content blocks, messages, requests and replies of MCP's
// sampling/createMessage (protocol version 2025-11-25), typed answers out of
// replies, and the exchanges that a run puts into a model's history. It sends
// nothing. Package tool asks with it, a model participant answers with it.
//
//	type Move struct {
//		Cell int `json:"cell" minimum:"0" maximum:"8"`
//	}
//	moves, err := sampling.NewSchema[Move](sampling.SchemaOptions{})
//	…
//	asked := sampling.Request{Messages: append(history, sampling.UserText("Pick your move.")), MaxTokens: 400}
//	sent, err := moves.Request(asked) // __schema__ first in tools, toolChoice required
//	…
//	outcome := moves.Read(reply)
//	if err := outcome.Err(); err != nil {
//		sent.Messages, again = outcome.Retry(sent.Messages) // what to send next
//		…
//	}
//	exchange, err := outcome.Exchange(asked)
//	history = sampling.Append(history, exchange.Messages...)
//	board.Play(exchange.Parsed.Cell)
//
// # Why there are content types of its own
//
// The MCP SDK's have no place for members and block types that they do not
// know: members are dropped, and a message with a block of a new type is
// refused whole. They turn input, structuredContent and _meta into maps, where
// big integers lose digits and properties their order; they cannot tell an
// empty resource from none, a temperature of zero from none, or content that
// is one block from a list of one; and a message's own _meta is lost. A model
// whose cache depends on the bytes that it was sent, and a journal, notice all
// of these. The types here lose nothing. To the SDK's and back it goes by way of JSON.
//
// # Guarantees
//
// Reading is strict: names are case-sensitive and may not come twice, text is
// valid UTF-8, members have the types of MCP's schema, and sizes are bounded
// by the Max constants. A [*DecodeError] names the block and the member.
//
// What was read is written again with all that was in it. Blocks of unknown
// types, annotations, _meta, tool input, structured content, schemas and
// members that this package does not know are the same bytes; content that came
// as one block goes as one block. Between known and unknown members the order
// may change, and numbers such as 0.70 are written as 0.7.
// MarshalJSON's bytes are meant here: an encoder that calls it may lay them out anew.
//
// [Check] knows the pairing rule: an assistant's tool_use blocks are answered by
// the next message, and by nothing else. All that [Append] makes of exchanges
// passes it, and so does every history that Retry makes.
//
// A failed reply makes no exchange. A decline or a cancelled form makes one
// that says so.
//
// # Concurrency
//
// The package does no I/O, starts no goroutines and reads no clock. Values may
// be read from several goroutines at once; a [Schema] never changes. Values that were read
// share memory with each other, and must not be changed in place.
package sampling
