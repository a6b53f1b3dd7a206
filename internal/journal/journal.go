// Package journal is the durable, ordered record of spaces (section 9 of the
// contract): what was admitted, in its order, and what was refused, in one
// hash chain per space.
//
// A [Journal] assigns positions and says when a record is durable; the gateway
// delivers nothing before it hears so. The order in which [Log.Append] is
// called is the order in which records become durable, and a log that several
// gateways share can stand behind the same interface: its owner learns of
// every durable record, its own or not, through its [Sink].
//
//	log, err := j.Open(ctx, "demo", sink)
//	log.Append(rec)                 // returns at once
//	// … later, from the journal: sink.Durable([]*Record{rec})
//
// What was dropped by retention ([Log.Cut], [Marker]) is as if it had never been,
// but for its last hash in the marker, and for the checkpoint behind it, from
// which the space's state is loaded.
//
// Backends are [NewMemory] and package sqlite; package journaltest is the one
// suite that every backend passes.
//
// # Concurrency
//
// A Journal and its Logs may be used from any goroutine. Append is called by
// one goroutine per log, the one that owns the space. The methods of a Sink
// are called by the journal, one at a time per log. They must be quick, must not
// call back into Append, and must not wait for whoever is calling Append: that
// one may be waiting for them. After Close nothing is taken any more: Append
// then returns, and no sink hears of the record.
package journal

import (
	"context"
	"iter"
	"time"
)

// Journal holds the logs of many spaces.
type Journal interface {
	// Open opens the log of one space, which it makes where there is none.
	// A log is open at most once at a time, until Close.
	Open(ctx context.Context, space string, sink Sink) (Log, error)

	// Reader opens a log to be read while its owner, in this process or
	// another, goes on writing it: not_found where there is none.
	Reader(ctx context.Context, space string) (Reader, error)

	// Spaces lists the spaces that have a log, sorted.
	Spaces(ctx context.Context) ([]string, error)

	// Close waits for what was appended to become durable, tells the sinks,
	// and closes the logs.
	Close() error
}

// Sink hears what becomes of appended records.
type Sink interface {
	// Durable is called with records that have become durable, in their order,
	// with every field filled in. They must not be changed.
	Durable(records []*Record)

	// Failed is called with records that are not on record and never will be.
	// From then on all that is appended fails, in its order, until [Log.Recover].
	// The error is a *parley.Error: unavailable wherever a disk is the cause,
	// invalid_argument where the first of them is a [Marker] that may not drop
	// what it names.
	Failed(records []*Record, err error)
}

// Reader reads one space's log.
type Reader interface {
	// Bounds says what the log holds now.
	Bounds(ctx context.Context) (Bounds, error)

	// Read yields the records that a query asks for, oldest first unless it
	// says otherwise. Records that are appended meanwhile may or may not be
	// among them. A record may be kept; it must not be changed. What retention
	// dropped is not there; where it drops what a read, oldest first, would have
	// come to next, the read ends with [Overtaken].
	Read(ctx context.Context, q Query) iter.Seq2[*Record, error]

	// Contexts yields what the log says of its contexts, in the order in which they
	// were opened. What a query may not find is told at [ContextQuery].
	Contexts(ctx context.Context, q ContextQuery) iter.Seq2[*Context, error]

	// Checkpoint is the newest checkpoint on record that has its body, or nil.
	// It costs the same however long the log is.
	Checkpoint(ctx context.Context) (*Record, error)
}

// Log is one space's log, open for appending.
type Log interface {
	Reader

	// Append hands a record over. It gets its Index, its Seq where it is an
	// envelope, and its Hash; when it is durable the sink hears of it. Append
	// waits only while too much is on its way already, which is how a slow
	// disk slows its senders down.
	//
	// A [Marker] drops what it names when it becomes durable: from then on
	// nothing reads what stands there. A [Checkpoint] takes the body from those
	// that are older than the one before it.
	Append(r *Record)

	// Redact takes from the envelopes with an id, and a Seq below before where that
	// is not 0, what may be redacted ([Record.Redact]), and says where they stand,
	// those included with which it was done already. It is not_found where there are
	// none, and kind_mismatch where the kind of all of them forbids it
	// ([parley.Kind.Redactable]); those of several it leaves alone. When it returns
	// nil, it is durable, and out of what searches find.
	//
	// Its caller appends the order to do so first, and waits for it: a redaction
	// without an order on record behind it does not verify, and before is the
	// order's Seq. After a crash it redacts again whatever orders name.
	Redact(ctx context.Context, id string, before uint64) (seqs []uint64, err error)

	// Cut says what would have to go to keep to a retention; nothing is the zero
	// Dropped. It is never the newest envelope, nor anything younger than
	// Before. Appending the marker of it, behind a checkpoint, drops it.
	Cut(ctx context.Context, keep Retention) (Dropped, error)

	// Recover makes a log that failed take records again, if the disk lets it,
	// and says what is on record. Until it returns nil, every Append fails.
	Recover(ctx context.Context) (Bounds, error)
}

// Bounds says what a log holds.
type Bounds struct {
	Epoch string
	First uint64 // the oldest envelope still kept; 0 where there is none
	Last  uint64 // the newest; the next gets Last+1
	Head  Head

	// Indexed is the Seq up to which the search index has read. What comes
	// after is searched as well, more slowly.
	Indexed uint64
}

// Head names the end of a chain. Kept elsewhere, it proves that nothing
// before it was changed or cut off since.
type Head struct {
	Index uint64 // of the last record; 0 is an empty chain
	Seq   uint64 // of the last envelope
	Hash  Hash
}

// Query selects records. Its zero value selects every envelope, oldest first.
// All conditions must hold.
type Query struct {
	After  uint64 // only envelopes after this Seq
	Before uint64 // only envelopes before this Seq; 0 is no bound
	Limit  int    // at most so many; 0 is no bound
	Newest bool   // newest first

	ID          string   // this envelope
	From        string   // this sender
	To          string   // this addressee
	Kinds       []string // an effective or written kind that matches one of these patterns (section 4)
	Contexts    []string // in one of these contexts
	Correlation string   // answering this id
	Since       time.Time
	Until       time.Time // exclusive
	Text        string    // all of its words, in any order; see [Words]

	// Records of every type, not only envelopes, by their Index. After and
	// Before then speak of Index, and the order is that of the chain.
	Chain bool
}
