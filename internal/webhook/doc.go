// Package webhook tells programs elsewhere, by HTTP, what happens in a space: that
// something was proposed, and what became of it; that envelopes were refused; that a
// bridge failed. Requests are made and signed as Standard Webhooks 1.0 says
// (https://www.standardwebhooks.com).
//
//	desk, err := webhook.Open(ctx, journal, webhook.Options{Dir: "parley.db-webhooks", Hooks: hooks})
//	gateway.New(ctx, gateway.Options{Recorded: desk.Recorded, …})
//	desk.Start()
//	…
//	desk.Close(ctx)
//
// The journal is the queue. A webhook is a place in a space's chain, the events
// before it that were not taken yet, and those that were given up (the dead
// letters); all three are one small file. An event is an index in the chain, and
// what is sent of it is read from the record when it is sent: what was redacted
// meanwhile does not leave the house. A place that was saved late costs a repeat,
// never a loss, and a repeat has the same id, which is made of the record's hash.
//
// Guarantees:
//
//   - Each event of a space is sent until it is answered with 2xx, or becomes a dead
//     letter after the last retry, whatever is killed meanwhile. Only retention of
//     the record and the bounds below lose something, and that is logged.
//   - Of the events of one proposal, and of one bridge, a webhook gets none before
//     the earlier ones were taken or given up. Others may overtake each other.
//   - A webhook that is new begins now.
//   - At most 1,000 events wait, and at most 1,000 dead letters are kept, of each
//     webhook. While so many wait nothing more is read from the journal; of dead
//     letters the oldest goes. A receiver delays nobody but itself.
//
// # Concurrency
//
// A Desk may be used from any goroutine. Recorded is called by the journal and waits
// for nothing. Each webhook has one goroutine, which owns its state, and one for
// each request that is under way, at most 4. Close waits for all of them.
package webhook
