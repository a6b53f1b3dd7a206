package response

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
)

// bench is a Source with real files, a clock that a test turns, and a log that
// it reads.
type bench struct {
	t          *testing.T
	dir, home  string
	env        map[string]string
	source     *Source
	log        bytes.Buffer
	clock      time.Time
	lastChange time.Time
}

func newBench(t *testing.T) *bench {
	began := time.Now()
	return &bench{
		t: t, dir: t.TempDir(), home: t.TempDir(), env: map[string]string{},
		// Files change long before they are read, so their times can be relied on.
		clock: began, lastChange: began.Add(-24 * time.Hour),
	}
}

func (b *bench) start(o SourceOptions) {
	o.Dir, o.Home = b.dir, b.home
	o.Getenv = func(name string) string { return b.env[name] }
	o.Log = slog.New(slog.NewTextHandler(&b.log, nil))
	b.source = newSource(o, func() time.Time { return b.clock })
}

// write makes a file, each one younger than the last.
func (b *bench) write(path, text string) {
	b.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.dir, path)
	}
	b.must(os.MkdirAll(filepath.Dir(path), 0o755))
	b.must(os.WriteFile(path, []byte(text), 0o644))
	b.lastChange = b.lastChange.Add(time.Minute)
	b.must(os.Chtimes(path, time.Time{}, b.lastChange))
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// profile is the one in force after the next look.
func (b *bench) profile() string {
	b.clock = b.clock.Add(lookEvery)
	return b.source.Config().Profile()
}

func (b *bench) want(profile string) {
	b.t.Helper()
	if got := b.profile(); got != profile {
		b.t.Fatalf("the profile is %s, want %s\n%s", got, profile, &b.log)
	}
}

// told says how often the log told of something.
func (b *bench) told(what string) int { return strings.Count(b.log.String(), what) }

const (
	inParley  = ".parley/" + FileName
	inScalpel = ".code-scalpel/" + FileName
)

func config(profile string) string { return `{"global": {"profile": "` + profile + `"}}` }

// A file that appears, goes bad, is repaired and goes away is noticed each time.
func TestReload(t *testing.T) {
	b := newBench(t)
	b.start(SourceOptions{})
	b.want(Minimal)
	b.write(inParley, config(Standard))
	b.want(Standard)

	b.write(inParley, "{\n  \"global\": {\"profil\": 1}}")
	b.want(Standard)
	e, ok := errors.AsType[*parley.Error](b.source.Err())
	if !ok || e.Code != parley.InvalidConfig || !strings.Contains(e.Message, FileName+":2:14: ") || e.Hint != `did you mean "profile"?` {
		t.Errorf("the problem is %+v", e)
	}
	b.want(Standard)
	if n := b.told(":2:14: "); n != 1 || b.told(`did you mean \"profile\"?`) != 1 {
		t.Errorf("the problem is told %d times\n%s", n, &b.log)
	}

	b.write(inParley, config(Verbose))
	b.want(Verbose)
	if err := b.source.Err(); err != nil {
		t.Errorf("still a problem after the repair: %v", err)
	}
	b.write(inParley, "")
	b.want(Verbose)
	b.must(os.Remove(filepath.Join(b.dir, inParley)))
	b.want(Minimal)
	if err := b.source.Err(); err != nil {
		t.Errorf("still a problem without the file: %v", err)
	}
	b.write(inParley, config(Debug))
	b.want(Debug)
}

// The first file of the search counts, whenever it appears; when it goes away
// the next one does.
func TestSearchOrder(t *testing.T) {
	b := newBench(t)
	named := filepath.Join(t.TempDir(), "named.json")
	b.env[FileVariable] = named
	b.start(SourceOptions{})
	if b.told("not there") != 1 {
		t.Errorf("nothing is said of the named file that is missing\n%s", &b.log)
	}
	b.write(filepath.Join(b.home, "parley", FileName), config(Standard))
	b.want(Standard)
	b.write(inScalpel, config(Verbose))
	b.want(Verbose)
	b.write(inParley, config(Debug))
	b.want(Debug)
	b.write(named, config(Minimal))
	b.want(Minimal)

	b.must(os.Remove(named))
	b.want(Debug)
	b.must(os.RemoveAll(filepath.Join(b.dir, ".parley")))
	b.want(Verbose)
	b.must(os.RemoveAll(filepath.Join(b.dir, ".code-scalpel")))
	b.want(Standard)
}

// A bad file that comes first is not passed over in silence.
func TestBadFileAheadOfAGoodOne(t *testing.T) {
	b := newBench(t)
	b.write(inScalpel, config(Verbose))
	b.start(SourceOptions{})
	b.want(Verbose)
	b.write(inParley, "[]")
	b.want(Verbose)
	if b.source.Err() == nil {
		t.Error("no problem is told")
	}
	b.must(os.Remove(filepath.Join(b.dir, inParley)))
	b.want(Verbose)
}

func TestNamedFileAlone(t *testing.T) {
	b := newBench(t)
	b.write(inParley, config(Debug))
	b.start(SourceOptions{File: "other.json"})
	b.want(Minimal)
	b.write("other.json", config(Standard))
	b.want(Standard)
}

func TestRelativeNameInTheEnvironment(t *testing.T) {
	b := newBench(t)
	b.env[FileVariable] = "sub/my.json"
	b.write("sub/my.json", config(Verbose))
	b.start(SourceOptions{})
	b.want(Verbose)
}

// What the environment forces holds for whatever file comes.
func TestForcedDebug(t *testing.T) {
	for name, value := range map[string]string{ProfileVariable: "debug", InfoVariable: "DEBUG"} {
		b := newBench(t)
		b.env[name] = value
		b.start(SourceOptions{})
		b.want(Debug)
		b.write(inParley, `{"tool_overrides": {"t": {"profile": "standard", "exclude_fields": ["a"]}}}`)
		b.want(Debug)
		if got := b.source.Config().Shape("t", Pro).Profile(); got != Debug {
			t.Errorf("%s: the tool is sent in %s", name, got)
		}
	}
}

// Things in the file's place that are no files, and files that cannot be read.
func TestWhatIsNoFile(t *testing.T) {
	b := newBench(t)
	b.write(inParley, config(Standard))
	b.start(SourceOptions{})
	b.want(Standard)
	path := filepath.Join(b.dir, inParley)

	b.must(os.Remove(path))
	b.must(os.Mkdir(path, 0o755))
	b.want(Standard)
	if err := b.source.Err(); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
	b.must(os.Remove(path))
	b.must(os.Symlink("nowhere", path)) // is as no file
	b.want(Minimal)
	b.must(os.Remove(path))
	b.write(inParley, config(Verbose))
	b.want(Verbose)
	b.write(inParley, `{"description": "`+strings.Repeat("x", MaxFile)+`"}`)
	b.want(Verbose)
	if err := b.source.Err(); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("a large file: %v", err)
	}
	b.must(os.RemoveAll(filepath.Dir(path)))
	b.write(".parley", "a file in place of the folder")
	b.want(Minimal)
}

// A file that is there and cannot be read is told of once, not at every look.
func TestUnreadableFileIsToldOnce(t *testing.T) {
	const unreadable = "/proc/self/mem" // for root as well
	if info, err := os.Stat(unreadable); err != nil || !info.Mode().IsRegular() {
		t.Skip("there is no " + unreadable)
	}
	b := newBench(t)
	b.start(SourceOptions{File: unreadable})
	for range 5 {
		b.want(Minimal)
	}
	if n := b.told("is not used"); n != 1 || b.source.Err() == nil {
		t.Errorf("told %d times; %v\n%s", n, b.source.Err(), &b.log)
	}
}

// A file that is replaced by another of the same size and time is another file.
func TestReplacedFile(t *testing.T) {
	b := newBench(t)
	b.write(inParley, config("verbose"))
	b.start(SourceOptions{})
	b.want(Verbose)
	at := b.lastChange
	b.write("new.json", config("minimal"))
	path := filepath.Join(b.dir, inParley)
	b.must(os.Chtimes(filepath.Join(b.dir, "new.json"), time.Time{}, at))
	b.must(os.Rename(filepath.Join(b.dir, "new.json"), path))
	b.want(Minimal)
}

// Two changes within one tick of the file system's clock have the same time. The
// second is seen all the same.
func TestChangesWithinOneTick(t *testing.T) {
	b := newBench(t)
	b.lastChange = b.clock
	b.write(inParley, config("verbose"))
	path, tick := filepath.Join(b.dir, inParley), b.lastChange
	b.clock = tick
	b.start(SourceOptions{})
	b.want(Verbose)
	for _, profile := range []string{"minimal", "verbose", "minimal"} {
		b.must(os.WriteFile(path, []byte(config(profile)), 0o644)) // seven letters each
		b.must(os.Chtimes(path, time.Time{}, tick))
		b.want(profile)
	}
	// What is settled is not read again.
	b.clock = b.clock.Add(2 * settled)
	b.want(Minimal)
	if b.want(Minimal); b.source.seen.text != nil {
		t.Error("the file's text is still kept")
	}
}

// Files are looked at ten times a second, not at every call.
func TestFilesAreLookedAtNowAndThen(t *testing.T) {
	b := newBench(t)
	b.start(SourceOptions{})
	b.want(Minimal)
	b.write(inParley, config(Standard))
	b.clock = b.clock.Add(lookEvery - time.Nanosecond)
	if got := b.source.Config().Profile(); got != Minimal {
		t.Errorf("a file was looked at too early: %s", got)
	}
	b.clock = b.clock.Add(time.Nanosecond)
	if got := b.source.Config().Profile(); got != Standard {
		t.Errorf("a file was looked at too late: %s", got)
	}
}

func TestSourceFromManyGoroutines(t *testing.T) {
	b := newBench(t)
	b.write(inParley, config(Verbose))
	o := SourceOptions{Dir: b.dir, Home: b.home, Getenv: func(string) string { return "" }}
	s := newSource(o, func() time.Time { return time.Now().Add(time.Hour) })
	done := make(chan struct{})
	for range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			for range 1000 {
				s.Config().Shape("t", Pro).Append(nil, &Answer{})
				_ = s.Err()
			}
		}()
	}
	for range 4 {
		<-done
	}
	if got := s.Config().Profile(); got != Verbose {
		t.Error(got)
	}
}

func BenchmarkConfig(b *testing.B) {
	s := NewSource(SourceOptions{Dir: b.TempDir(), Home: b.TempDir(), Getenv: func(string) string { return "" }})
	b.ReportAllocs()
	for b.Loop() {
		s.Config()
	}
}
