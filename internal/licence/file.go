package licence

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/response"
)

// maxFile is how long a licence may be, in bytes.
const maxFile = 16 << 10

// Options say where a licence lies and which ones count.
type Options struct {
	Path     string // of the file, which need not be there; empty: there is no licence
	Key      []byte // public, as PEM or JWK; empty: no licence counts
	Issuer   string // what iss has to be
	Audience string // what has to be among aud

	Now func() time.Time // nil: time.Now
	Log *slog.Logger     // gets the warnings; nil: slog.Default()
}

// File is a licence file. It is made by [Open].
type File struct {
	path   string
	now    func() time.Time
	log    *slog.Logger
	verify *verifier // nil: no licence counts

	mu     sync.Mutex
	seen   fs.FileInfo // when it was read; nil: it was not there
	read   time.Time   // when it was read
	claims *claims     // nil: it is not a licence
	fault  error       // why claims is nil
	warned string      // what the log was told last
}

// Open looks for nothing yet: the file is looked at when the tier is asked for.
// An error is invalid_argument: the key cannot be used, or there is a key
// without an issuer or audience.
func Open(o Options) (*File, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	f := &File{path: o.Path, now: o.Now, log: o.Log, fault: fs.ErrNotExist}
	if len(o.Key) == 0 {
		return f, nil
	}
	if o.Issuer == "" || o.Audience == "" {
		return nil, parley.Errorf(parley.InvalidArgument, "a licence key without an issuer and an audience").
			WithHint("say whose licences count, and what for")
	}
	v, err := newVerifier(&o)
	f.verify = v
	return f, err
}

// Tier is what the licence entitles to now.
func (f *File) Tier() response.Tier {
	if f.path == "" {
		return response.Community
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	tier, err := f.judge()
	f.warn(err)
	return tier
}

// judge is called with f.mu held.
func (f *File) judge() (response.Tier, error) {
	if f.verify == nil {
		return response.Community, errors.New("there is no key to verify it with")
	}
	if f.changed() {
		f.claims, f.fault = f.load()
	}
	if f.claims == nil {
		return response.Community, f.fault
	}
	if err := f.verify.judge(f.claims); err != nil {
		return response.Community, err
	}
	return f.claims.Tier, nil
}

// settled is how old a file's time has to be before the same time and size mean
// the same content: file systems count time in steps.
const settled = 2 * time.Second

// changed says whether the file may have another content than when it was read.
// It is called with f.mu held.
func (f *File) changed() bool {
	info, err := os.Stat(f.path)
	if err != nil {
		f.seen, f.claims, f.fault = nil, nil, reason(err)
		return false
	}
	same := f.seen != nil && os.SameFile(info, f.seen) && info.Size() == f.seen.Size() &&
		info.ModTime().Equal(f.seen.ModTime()) && info.Mode() == f.seen.Mode()
	// The read may have come before a change within the same step.
	if same && f.read.Sub(info.ModTime()) > settled {
		return false
	}
	f.seen, f.read = info, time.Now()
	return true
}

// load reads and verifies the file. It is called with f.mu held.
func (f *File) load() (*claims, error) {
	text, err := f.text()
	if err != nil {
		f.seen = nil // that may be over before the file changes
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("it is longer than %d bytes", maxFile)
	}
	return f.verify.verify(strings.TrimSpace(string(text)))
}

// text reads the file, and a byte more than it may have.
func (f *File) text() ([]byte, error) {
	// To open a pipe would wait for somebody to write into it.
	if !f.seen.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	file, err := os.Open(f.path)
	if err != nil {
		return nil, reason(err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, reason(err)
	}
	return text, nil
}

// warn tells the log why there is no licence, once for each reason.
func (f *File) warn(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != f.warned && err != nil {
		f.log.Warn("the licence does not count, so the tier is community", "file", f.path, "reason", text)
	}
	f.warned = text
}

// reason is an error of the operating system without the path, which is told
// beside it.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
