package gateway

import (
	"crypto/sha256"
	"log/slog"
	"time"

	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// Options are what a gateway is made of.
type Options struct {
	// Journal holds the record of every space. Required. It is the caller's,
	// to be closed after Shutdown.
	Journal journal.Journal

	// Spaces are the rooms.
	Spaces []Space

	// Logger gets what an operator should know; nothing where nil. Tokens and
	// payloads never reach it.
	Logger *slog.Logger

	// Now is the clock that envelopes are stamped with; time.Now where nil.
	Now func() time.Time

	// Hosts are names, without port, that browsers may know the gateway by,
	// beside localhost and the loopback addresses.
	Hosts []string

	// Origins are further origins, as https://example.org, whose pages may use
	// a browser's session. A page from the gateway itself always may.
	Origins []string

	// Sessions is the file in which the sessions of browsers are kept, so that they
	// survive a restart; "" where they need not.
	Sessions string

	// ApprovalLinks is the file in which approval links are kept, so that they
	// survive a restart; "" where they need not.
	ApprovalLinks string

	// PublicURL is how browsers reach the gateway, as https://parley.example: what
	// links begin with. It is a name of the gateway's as those in Hosts are. "": by
	// the address that a request came to.
	PublicURL string

	// URL is what links begin with that no request asks for, without a PublicURL.
	URL string

	// Bridges are the servers that are kept in the spaces by who runs the gateway;
	// nil where there are none.
	Bridges Bridges

	// Recorded is told what of a space is on record now, in its order, before the next
	// of it is. It is called by the journal, and must wait for nothing; nil where
	// nobody wants to know. The records must not be changed.
	Recorded func(space string, records []*journal.Record)

	// RetainBytes is how much of each space's newest traffic is kept in
	// memory, ready to be sent; 8 MiB where 0.
	RetainBytes int

	// NoCompression keeps connections from being compressed. Otherwise those
	// are whose client offers it (RFC 7692), which browsers do.
	NoCompression bool

	// CheckpointEvery is after how many envelopes the state is put on record,
	// so that a start need not read what came before; 65,536 where 0.
	CheckpointEvery int

	// RetainEvery is how often it is looked for what a space need not keep; 1
	// minute where 0.
	RetainEvery time.Duration
}

// Space is one room.
type Space struct {
	// Rules are what the configuration says of it. NewID may be nil: UUIDs of
	// version 7.
	Rules space.Rules

	// Participants are those of Rules.Participants who may connect, by id.
	Participants map[string]Participant

	// Retention says how much of its record is kept.
	Retention Retention
}

// Participant is somebody who connects with a token, and the settings of
// connections that bring none of their own.
type Participant struct {
	Tokens   []TokenHash
	Settings space.Settings
	History  int // envelopes sent on join
}

// TokenHash is the SHA-256 of a bearer token. Tokens themselves are not kept.
type TokenHash = [sha256.Size]byte

// Bounds that are not configurable.
const (
	oversizeFactor  = 8        // frames up to so many times the limit are skipped, larger ones end the connection
	maxPrivate      = 1 << 20  // bytes of answers that may wait for one connection
	chunkBytes      = 64 << 10 // read from the journal at a time, for a stream
	chunkRecords    = 256      // the same in records
	journalReads    = 4        // connections that read the journal or catch up at once, at most
	connectionsEach = 1_024    // of one participant, so that nobody takes the space's
	endingEach      = 64       // of one participant, in whose place exclusive ones come in beyond the limits
	submissions     = 64       // envelopes that wait for a space's goroutine
	floodRecords    = 20       // refusals per sender and second that are recorded one by one
	floodRefusals   = 1_000    // refusals in floodWindow that end a connection
	floodWindow     = 10       // seconds
	pingEvery       = 30       // seconds
	silentFor       = 75       // seconds without a byte that end a connection
	stalledFor      = 30       // seconds in which a connection has to take slowest bytes, where so many wait
	arriveWithin    = 60       // seconds in which a message has to come in
	closeWithin     = 5 * time.Second
	closeOverdue    = 15 // seconds after which a closing connection is cut off: longer than a handshake
	retainDefault   = 8 << 20

	checkpointDefault  = 1 << 16
	checkpointAtEnd    = 1 << 10 // envelopes since the last one that make one worth it at a shutdown
	retainEveryDefault = time.Minute
	warmEnvelopes      = 4_096 // newest envelopes that a start has in memory for those who come back
)
