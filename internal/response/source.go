package response

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parleyhq/parley"
)

// lookEvery is how often the files are looked at.
const lookEvery = 100 * time.Millisecond

// settled is how old a file's last change must be, when the file is read, for
// its time to tell of the next change. Clocks of file systems are coarse: two
// changes within one tick look like one.
const settled = 2 * time.Second

// SourceOptions say where to search. The zero value searches as section 12 says.
type SourceOptions struct {
	Getenv func(string) string // the environment, asked once; nil is os.Getenv
	Dir    string              // where relative paths begin; empty is the current folder
	Home   string              // the user's configuration folder; empty is what os.UserConfigDir says
	File   string              // the one file to use, instead of a search
	Log    *slog.Logger        // told what is used, and why a file is not; nil is nobody
}

// Source finds the configuration and keeps it up to date. Its Config changes
// when the file does, when one appears that comes before it in the search, and
// when it goes away. A file that cannot be used leaves the last good
// configuration in force.
type Source struct {
	search search
	forced bool // into the debug profile
	log    *slog.Logger
	now    func() time.Time
	began  time.Time

	current atomic.Pointer[Config]
	next    atomic.Int64 // when to look again, in nanoseconds since began

	mu   sync.Mutex
	seen sighting // guarded by mu
	err  error    // guarded by mu
}

// NewSource looks for a configuration. That there is none, or a bad one, is no
// error: the log is told, and the default holds.
func NewSource(o SourceOptions) *Source { return newSource(o, time.Now) }

func newSource(o SourceOptions, now func() time.Time) *Source {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Source{search: newSearch(o), forced: forced(o.Getenv), log: o.Log, now: now, began: now()}
	s.use(Default())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.look(s.began)
	if s.search.absent() {
		s.log.Warn("the response configuration that was named is not there", "file", s.search.named)
	}
	return s
}

// Config is the configuration that is in force. It is meant to be asked for at
// every call: but for one call in a tenth of a second that looks at the files,
// it takes 0.1 µs.
func (s *Source) Config() *Config {
	now := s.now()
	if int64(now.Sub(s.began)) >= s.next.Load() && s.mu.TryLock() {
		s.look(now)
		s.mu.Unlock()
	}
	return s.current.Load()
}

// Err says why the file that was found is not in force; nil where it is, or
// where there is none. It is a *parley.Error with the code invalid_config.
func (s *Source) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// use puts a configuration in force.
func (s *Source) use(c *Config) {
	if s.forced {
		c = c.inDebug()
	}
	s.current.Store(c)
}

// sighting is what was seen of the file at the last look.
type sighting struct {
	path  string      // empty where there was none
	info  fs.FileInfo // nil where it could not be read
	fault string      // why not

	readAt time.Time
	text   []byte // what was read; nil once that is settled
}

// same says whether two looks saw the same file, unchanged as far as one can
// see from outside.
func (a *sighting) same(b *sighting) bool {
	if a.path != b.path || a.fault != b.fault || (a.info == nil) != (b.info == nil) {
		return false
	}
	return a.info == nil || os.SameFile(a.info, b.info) && a.info.Size() == b.info.Size() && a.info.ModTime().Equal(b.info.ModTime())
}

// young says whether a change may hide behind the time of the last one.
func (a *sighting) young() bool {
	return a.info != nil && a.readAt.Sub(a.info.ModTime()).Abs() < settled
}

// look takes notice of what changed. The caller holds mu.
func (s *Source) look(now time.Time) {
	defer func() { s.next.Store(int64(now.Sub(s.began) + lookEvery)) }()
	found := s.search.find()
	unchanged := s.seen.same(&found)
	if unchanged && !s.seen.young() {
		s.seen.text = nil
		return
	}
	if found.info != nil {
		found = read(found.path)
		found.readAt = now
		if s.seen.same(&found) && bytes.Equal(found.text, s.seen.text) {
			s.seen = found
			return
		}
	}
	s.seen = found
	s.adopt(&found)
}

// adopt puts in force what was found, or says why not.
func (s *Source) adopt(found *sighting) {
	if found.path == "" {
		if s.err = nil; s.current.Load().file {
			s.log.Info("no response configuration any more: the default holds")
		}
		s.use(Default())
		return
	}
	c, err := found.config()
	if s.err = err; err != nil {
		s.warn(err)
		return
	}
	s.use(c)
	s.log.Info("response configuration in use", "file", found.path, "profile", s.current.Load().Profile())
}

// warn tells the log why the last good configuration still holds.
func (s *Source) warn(problem error) {
	attrs := []any{"problem", problem}
	if e, ok := errors.AsType[*parley.Error](problem); ok && e.Hint != "" {
		attrs = append(attrs, "hint", e.Hint)
	}
	s.log.Warn("the response configuration is not used; the last good one holds", attrs...)
}

func (a *sighting) config() (*Config, error) {
	if a.fault != "" {
		return nil, parley.Errorf(parley.InvalidConfig, "%s: %s", a.path, a.fault)
	}
	c, err := Parse(a.path, a.text)
	if err != nil {
		return nil, err
	}
	c.file = true
	return c, nil
}

// read takes in a file that was seen.
func read(path string) sighting {
	file, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return faulty(path, err)
	}
	defer file.Close()
	a := sighting{path: path}
	if a.info, err = file.Stat(); err != nil {
		return faulty(path, err)
	}
	if !a.info.Mode().IsRegular() {
		return sighting{path: path, fault: notRegular}
	}
	// One byte more than is allowed, so that Parse sees what is too much.
	if a.text, err = io.ReadAll(io.LimitReader(file, MaxFile+1)); err != nil {
		return faulty(path, err)
	}
	return a
}
