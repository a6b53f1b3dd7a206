package sqlite

import (
	"cmp"
	"log/slog"

	"github.com/parleyhq/parley"
)

// Options are the options of [Open]. Only Path is required.
type Options struct {
	// Path is the journal's file. It is made if it does not exist; its folder
	// is not.
	Path string

	// Sync says what durable means; [Normal] by default.
	Sync Sync

	// ReadOnly opens a journal that somebody else may be writing. Nothing is
	// made or changed; Open of a log is refused.
	ReadOnly bool

	QueueRecords int // that may be on their way together; 8192 by default
	QueueBytes   int // 16 MiB by default
	Readers      int // reads that run at a time; 4 by default

	// Log hears of what concerns nobody's call: an index that is made anew.
	// nil discards it.
	Log *slog.Logger

	vfs  string // the file system; another one in tests
	boot string // a boot id for tests
}

func (o Options) withDefaults() Options {
	o.QueueRecords = cmp.Or(o.QueueRecords, 8192)
	o.QueueBytes = cmp.Or(o.QueueBytes, 16<<20)
	o.Readers = cmp.Or(o.Readers, 4)
	o.boot = cmp.Or(o.boot, bootID())
	o.vfs = cmp.Or(o.vfs, systemDisk())
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Sync says what a record that is called durable survives (section 9 of the
// contract).
type Sync int

// The choices of journal.sync.
const (
	Normal Sync = iota // a killed process
	Full               // a power loss
	Off                // promises nothing after a crash
)

// String is the choice as it stands in a configuration.
func (s Sync) String() string {
	switch s {
	case Full:
		return "full"
	case Off:
		return "off"
	}
	return "normal"
}

func (s Sync) pragma() string { return `PRAGMA synchronous = ` + s.String() }

// ParseSync reads what String wrote, "" as normal: invalid_argument for
// anything else.
func ParseSync(s string) (Sync, error) {
	switch s {
	case "", "normal":
		return Normal, nil
	case "full":
		return Full, nil
	case "off":
		return Off, nil
	}
	return 0, parley.Errorf(parley.InvalidArgument, "journal.sync is %.40q", s).
		WithHint("write full, normal or off")
}
