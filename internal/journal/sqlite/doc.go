// Package sqlite is the embedded journal: one SQLite file that holds the logs
// of all spaces of one gateway, without cgo.
//
//	j, err := sqlite.Open(ctx, sqlite.Options{Path: "parley.db"})
//	if err != nil {
//		return err // a *parley.Error that says what to do
//	}
//	defer j.Close()
//	log, err := j.Open(ctx, "demo", sink)
//
// # The way of a record
//
//	Append → queue → writer: one transaction for all that waits → Sink.Durable
//	                              ↓ wakes
//	                           indexer → parley.db-search, in large batches
//
// What queues while one transaction commits makes up the next, so that many
// senders share the cost of a commit and a lone one waits for nobody. The queue
// is bounded in records and bytes; behind a full one Append waits.
//
// Nothing but the table itself is written on that way. Every other lookup (by
// id, sender, addressee, correlation, context, word) goes through the search
// index, a file of its own that runs a little behind, and for what it has not
// read yet through the table. So an answer is complete however far the index
// has got, and the index may be deleted at any time.
//
// # What retention drops
//
// A marker moves the space's floor in the transaction that puts it on record,
// and nobody reads what is below. Then
//
//	indexer forgets the words → writer removes the rows, a few between two batches
//
// in this order, since the index can forget only what it can still read. What is
// redacted leaves the journal first, then the index, then both -wal files.
//
// # Files
//
//	parley.db          the journal; with -wal and -shm beside it while it is open
//	parley.db-lock     held by the one gateway that writes
//	parley.db-search   the index, made anew whenever it is missing or damaged
//
// All are made with mode 0600. Other processes may read while a gateway writes:
// [Options].ReadOnly.
//
// # What durable means
//
// See [Sync]. Where an order may have lost its end, the next start gives every
// space a new epoch, so that no position is ever used twice: after an unclean
// end with [Off], always; with [Normal], if the machine was started anew in
// between, which its boot id tells (on Linux; where there is none to ask, after
// every unclean end); with [Full], never.
//
// # Concurrency
//
// See package journal. One goroutine writes, one feeds the index; Close waits
// for both. Reads take a connection of a small pool for one page at a time, so
// that slow consumers hold nothing. Sinks are called by the writer.
package sqlite
