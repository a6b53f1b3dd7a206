package runlog

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func is(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("the error is %v, not %v", err, want)
	}
}

// folder opens a folder of runs, and closes it at the test's end.
func folder(t testing.TB, path string) *Dir {
	t.Helper()
	d, err := Open(path)
	must(t, err)
	t.Cleanup(func() { must(t, d.Close()) })
	return d
}

// write makes a run of some records, closes it, and returns its file.
func write(t testing.TB, d *Dir, name string, records ...Record) string {
	t.Helper()
	l, err := d.Create(name)
	must(t, err)
	for _, r := range records {
		must(t, l.Append(r))
	}
	must(t, l.Close())
	return d.path(fileOf(name))
}

// load loads a run and closes it.
func load(t testing.TB, d *Dir, name string) []Record {
	t.Helper()
	l, records, err := d.Load(name)
	must(t, err)
	must(t, l.Close())
	return records
}

func same(t testing.TB, got, want []Record) {
	t.Helper()
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("the records are\n%v, not\n%v", got, want)
	}
}

var story = []Record{
	{"before", jsontext.Value(`{"path":"a.py","big":123456789012345678901234567890,"z":1,"a":1.50}`)},
	{"asked", nil},
	{"answered", jsontext.Value(`"\u0041 \/ <é>\n"`)},
	{"after", jsontext.Value(`null`)},
}

// What was appended is there for the next one that opens the folder, byte for byte.
func TestKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b", "runs")
	d, err := Open(path)
	must(t, err)
	l, err := d.Create("run")
	must(t, err)
	for _, r := range story[:2] {
		must(t, l.Append(r))
	}
	must(t, d.Close())
	is(t, l.Append(story[2]), fs.ErrClosed)

	d = folder(t, path)
	l, records, err := d.Load("run")
	must(t, err)
	same(t, records, story[:2])
	for _, r := range story[2:] {
		must(t, l.Append(r))
	}
	must(t, l.Close())
	same(t, load(t, d, "run"), story)
}

// A run begins with records or not at all.
func TestBeginning(t *testing.T) {
	d := folder(t, t.TempDir())
	l, err := d.Create("run", story[:2]...)
	must(t, err)
	must(t, l.Append(story[2]))
	must(t, l.Close())
	same(t, load(t, d, "run"), story[:3])

	if _, err := d.Create("none", story[0], Record{"k", jsontext.Value(`{`)}); err == nil || !strings.Contains(err.Error(), "no JSON") {
		t.Error(err)
	}
	large := Record{"k", jsontext.Value(`"` + strings.Repeat("x", MaxRecord-100) + `"`)}
	_, err = d.Create("none", large, large, large, large, large)
	is(t, err, ErrSize)
	_, _, err = d.Load("none")
	is(t, err, fs.ErrNotExist)
}

func TestOthersMayNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs")
	file := write(t, folder(t, path), "run")
	for name, want := range map[string]fs.FileMode{path: 0o700, file: 0o600} {
		info, err := os.Stat(name)
		must(t, err)
		if got := info.Mode().Perm(); got&^want != 0 {
			t.Errorf("%s has the mode %v", name, got)
		}
	}
}

// The file is what the package's documentation says.
func TestFormat(t *testing.T) {
	text, err := os.ReadFile(write(t, folder(t, t.TempDir()), "run 7f2e",
		Record{"before", jsontext.Value("{\n  \"path\": \"a.py\"\r\n}")}, Record{"asked", jsontext.Value{}}))
	must(t, err)
	want := "5638dca7 {\"version\":1,\"name\":\"run 7f2e\"}\n" +
		"17836859 {\"kind\":\"before\",\"data\":{\"path\":\"a.py\"}}\n" +
		"87a3f177 {\"kind\":\"asked\"}\n"
	if string(text) != want {
		t.Errorf("the file is\n%swant\n%s", text, want)
	}
}

// A run may have any name: it is never a path, and names that a file system
// takes for the same are not.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "runs")
	d := folder(t, path)
	want := map[string]int{
		"a": 1, "A": 1, "../x": 1, "/etc/passwd": 1, ".": 1, "..": 1, "lock": 1, "a\x00b": 1, "a\nb": 1, "CON": 1, " ": 1,
		"é": 1, "e\u0301": 1, "\u202e": 1, strings.Repeat("\x01", MaxName): 1, strings.Repeat("n", MaxName): 1, fileOf("a"): 1,
	}
	for name := range want {
		write(t, d, name, Record{"named", jsontext.Value(`[]`)})
	}
	got := map[string]int{}
	for info, err := range d.Names() {
		must(t, err)
		got[info.Name]++
		if info.Modified.IsZero() || info.Size == 0 {
			t.Errorf("%q: %+v", info.Name, info)
		}
		same(t, load(t, d, info.Name), []Record{{"named", jsontext.Value(`[]`)}})
		must(t, d.Remove(info.Name)) // in the middle of the loop
	}
	if !maps.Equal(got, want) {
		t.Errorf("the names are %q", slices.Sorted(maps.Keys(got)))
	}
	for info, err := range d.Names() {
		t.Error("removed, and there:", info, err)
	}
	above, err := os.ReadDir(dir)
	must(t, err)
	if len(above) != 1 {
		t.Errorf("beside the folder is something: %v", above)
	}
	for _, name := range []string{"", strings.Repeat("n", MaxName+1), "\xff"} {
		_, err := d.Create(name)
		_, _, errLoad := d.Load(name)
		for _, err := range []error{err, errLoad, d.Remove(name)} {
			if err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "UTF-8 text of 1 to 256 bytes") {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
}

// There are more runs than one reading of the folder brings.
func TestManyNames(t *testing.T) {
	d := folder(t, t.TempDir())
	d.sync = func(*os.File) error { return nil } // the disk is not what is looked at
	for i := range 600 {
		_, err := d.Create(fmt.Sprint(i))
		must(t, err)
	}
	got := map[string]bool{}
	for info, err := range d.Names() {
		must(t, err)
		got[info.Name] = true
	}
	if len(got) != 600 {
		t.Errorf("%d names", len(got))
	}
	for range d.Names() {
		break
	}
}

func TestOneOfEach(t *testing.T) {
	path := t.TempDir()
	d := folder(t, path)
	_, err := Open(path)
	is(t, err, ErrInUse)

	l, err := d.Create("run")
	must(t, err)
	exists := func() {
		t.Helper()
		_, err := d.Create("run")
		is(t, err, fs.ErrExist)
		if e, ok := errors.AsType[*ExistsError](err); !ok || e.Name != "run" || e.File != d.path(fileOf("run")) {
			t.Errorf("%#v", err)
		}
	}
	exists()
	_, _, err = d.Load("run")
	is(t, err, ErrInUse)
	must(t, l.Close())
	must(t, l.Close())
	exists()
	load(t, d, "run")

	_, _, err = d.Load("other")
	is(t, err, fs.ErrNotExist)
	is(t, d.Remove("other"), fs.ErrNotExist)
}

// A run that is removed while it is open is gone, and its log cannot bring it back.
func TestRemoveOpen(t *testing.T) {
	d := folder(t, t.TempDir())
	old, err := d.Create("run")
	must(t, err)
	must(t, old.Append(story[0]))
	must(t, d.Remove("run"))
	is(t, old.Append(story[1]), fs.ErrClosed)
	is(t, d.Remove("run"), fs.ErrNotExist)
	l, err := d.Create("run")
	must(t, err)
	must(t, old.Close()) // is not the new one's
	must(t, l.Append(story[2]))
	must(t, l.Close())
	same(t, load(t, d, "run"), story[2:3])
}

func TestClosed(t *testing.T) {
	d, err := Open(t.TempDir())
	must(t, err)
	must(t, d.Close())
	must(t, d.Close())
	_, err = d.Create("run")
	is(t, err, fs.ErrClosed)
	_, _, err = d.Load("run")
	is(t, err, fs.ErrClosed)
	is(t, d.Remove("run"), fs.ErrClosed)
	for _, err := range d.Names() {
		is(t, err, fs.ErrClosed)
	}
}

func TestNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for _, path := range []string{file, filepath.Join(file, "runs")} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// What is no record is refused before anything is written.
func TestRefused(t *testing.T) {
	d := folder(t, t.TempDir())
	l, err := d.Create("run")
	must(t, err)
	deep := jsontext.Value(strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999))
	deeper := jsontext.Value(strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000))
	for _, c := range []struct {
		name string
		r    Record
		want string
	}{
		{"no kind", Record{Data: jsontext.Value(`1`)}, "without a kind"},
		{"no JSON", Record{"k", jsontext.Value(`{`)}, "no JSON"},
		{"two values", Record{"k", jsontext.Value(`1 2`)}, "no JSON"},
		{"two lines", Record{"k", jsontext.Value("1}\n00000000 {")}, "no JSON"},
		{"a name twice", Record{"k", jsontext.Value(`{"a":1,"a":2}`)}, "no JSON"},
		{"no text", Record{"k", jsontext.Value("\"\xff\"")}, "no JSON"},
		{"a kind that is no text", Record{"\xff", nil}, "no JSON"},
		{"too deep", Record{"k", deeper}, "no JSON"},
	} {
		if err := l.Append(c.r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	must(t, l.Append(Record{"k\n", deep}))
	must(t, l.Close())
	same(t, load(t, d, "run"), []Record{{"k\n", deep}})
}

// Records and runs have bounds, and up to these they are kept.
func TestBounds(t *testing.T) {
	d := folder(t, t.TempDir())
	l, err := d.Create("run")
	must(t, err)
	text := func(n int) Record {
		return Record{"k", jsontext.Value(`"` + strings.Repeat("x", n-len(`00000000 {"kind":"k","data":""}`+"\n")) + `"`)}
	}
	is(t, l.Append(text(MaxRecord+1)), ErrSize)
	is(t, l.Append(text(2*MaxRecord)), ErrSize)
	for range 3 {
		must(t, l.Append(text(MaxRecord)))
	}
	must(t, l.Append(text(MaxRecord-int(l.planned)+3*MaxRecord))) // the header's share
	is(t, l.Append(text(64)), ErrSize)
	must(t, l.Close())
	l, records, err := d.Load("run")
	must(t, err)
	if len(records) != 4 || l.size != MaxRun {
		t.Errorf("%d records, %d bytes", len(records), l.size)
	}
	is(t, l.Append(text(64)), ErrSize)
	must(t, l.Close())

	f, err := os.OpenFile(d.path(fileOf("run")), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	_, err = f.WriteString("x")
	must(t, errors.Join(err, f.Close()))
	damaged(t, d, "run", MaxRun)
}

// damaged loads a run that is damaged at an offset, and looks whether its file was left alone.
func damaged(t testing.TB, d *Dir, name string, offset int64) {
	t.Helper()
	file := d.path(fileOf(name))
	before, err := os.Stat(file)
	must(t, err)
	l, _, err := d.Load(name)
	if e, ok := errors.AsType[*DamageError](err); !ok || e.Offset != offset || e.File != file {
		t.Errorf("%v, not damaged at %d", err, offset)
		if err == nil {
			must(t, l.Close())
		}
	}
	after, err := os.Stat(file)
	must(t, err)
	if before.Size() != after.Size() || before.ModTime() != after.ModTime() {
		t.Error("the file was changed")
	}
	_, err = d.Create(name)
	is(t, err, fs.ErrExist)
}
