package runlog

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sealed is a file with these lines after its header, each of them with a sum that fits.
func sealed(name string, lines ...string) string {
	var b strings.Builder
	for _, text := range append([]string{fmt.Sprintf(`{"version":1,"name":%q}`, name)}, lines...) {
		b.Write(checksum(nil, []byte(text)))
		fmt.Fprintf(&b, " %s\n", text)
	}
	return b.String()
}

// put writes a run's file as it is given.
func put(t testing.TB, d *Dir, name, text string) string {
	t.Helper()
	file := d.path(fileOf(name))
	must(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// Whatever a crash leaves of an append, all that was appended before is there,
// and the run goes on.
func TestTorn(t *testing.T) {
	d := folder(t, t.TempDir())
	d.sync = func(*os.File) error { return nil } // the disk is not what is looked at
	whole, err := os.ReadFile(write(t, d, "run", story...))
	must(t, err)
	head := bytes.IndexByte(whole, '\n') + 1
	for size := head; size <= len(whole); size++ {
		put(t, d, "run", string(whole[:size]))
		kept := bytes.Count(whole[head:size], newline)
		l, records, err := d.Load("run")
		must(t, err)
		same(t, records, story[:kept])
		must(t, l.Append(story[1]))
		must(t, l.Close())
		same(t, load(t, d, "run"), append(story[:kept:kept], story[1]))
	}
	for size := range head { // no crash leaves this
		put(t, d, "run", string(whole[:size]))
		damaged(t, d, "run", 0)
	}
}

// No byte can be another one without being noticed, the last one's end included.
func TestFlipped(t *testing.T) {
	d := folder(t, t.TempDir())
	file := write(t, d, "run", story[1], story[2], story[1])
	whole, err := os.ReadFile(file)
	must(t, err)
	for at := range whole {
		for bit := range 8 {
			text := bytes.Clone(whole)
			text[at] ^= 1 << bit
			must(t, os.WriteFile(file, text, 0o600))
			damaged(t, d, "run", int64(bytes.LastIndexByte(whole[:at], '\n')+1))
		}
	}
}

// Files that somebody made who knows the sums.
func TestDamaged(t *testing.T) {
	d := folder(t, t.TempDir())
	good := sealed("run", `{"kind":"k"}`)
	end := int64(len(good))
	for _, c := range []struct {
		name   string
		text   string
		offset int64
	}{
		{"empty", "", 0},
		{"an empty line", good + "\n", end},
		{"no JSON", sealed("run", `{"kind":"k"}`, `{`), end},
		{"no record", sealed("run", `{"kind":"k"}`, `[]`), end},
		{"null", sealed("run", `{"kind":"k"}`, `null`), end},
		{"no kind", sealed("run", `{"kind":"k"}`, `{"data":1}`), end},
		{"an unknown member", sealed("run", `{"kind":"k"}`, `{"kind":"k","Data":1}`), end},
		{"a member twice", sealed("run", `{"kind":"k"}`, `{"kind":"k","kind":"k"}`), end},
		{"a sum in capitals", good + strings.ToUpper(sealed("run", `{"kind":"k"}`)[len(sealed("run")):]), end},
		{"a hole in the middle", good + strings.Repeat("\x00", 8) + "\n" + good[len(sealed("run")):], end},
		{"another's", sealed("other"), 0},
		{"a record first", strings.TrimPrefix(good, sealed("run")), 0},
		{"no name", sealed(""), 0},
		{"a name too long", sealed(strings.Repeat("n", MaxName+1)), 0},
		{"a first line without an end", strings.Repeat("x", 1<<20), 0},
		{"a later version", strings.Replace(sealed("run"), "1,", "2,", 1), 0},
	} {
		put(t, d, "run", c.text)
		t.Run(c.name, func(t *testing.T) { damaged(t, d, "run", c.offset) })
	}
	later := `{"version":2,"name":"run"}`
	put(t, d, "run", string(checksum(nil, []byte(later)))+" "+later+"\n")
	if _, _, err := d.Load("run"); err == nil || !strings.Contains(err.Error(), "it is of version 2, and 1 is known") {
		t.Error(err)
	}
}

// A damaged run is told among the others, and hides none of them.
func TestDamagedNames(t *testing.T) {
	path := t.TempDir()
	d := folder(t, path)
	write(t, d, "good")
	damaged := map[string]bool{}
	damaged[put(t, d, "bad", "what is this?")] = true
	damaged[put(t, d, "moved", sealed("from elsewhere"))] = true
	must(t, os.Mkdir(d.path(fileOf("folder")), 0o700))
	damaged[d.path(fileOf("folder"))] = true
	must(t, os.Symlink(d.path(fileOf("good")), d.path(fileOf("link"))))
	damaged[d.path(fileOf("link"))] = true
	must(t, os.WriteFile(filepath.Join(path, "notes.txt"), nil, 0o600))
	var names []string
	for info, err := range d.Names() {
		if err == nil {
			names = append(names, info.Name)
			continue
		}
		e := err.(*DamageError)
		if !damaged[e.File] || info.Name != "" || info.Modified.IsZero() {
			t.Error(info, err)
		}
		delete(damaged, e.File)
	}
	if len(names) != 1 || names[0] != "good" || len(damaged) != 0 {
		t.Errorf("%q are there; not told: %v", names, damaged)
	}
}

// A process that was killed while it made a run leaves a draft, which the next one removes.
func TestDrafts(t *testing.T) {
	path := t.TempDir()
	d, err := Open(path)
	must(t, err)
	left := put(t, d, "run", "") + draft
	must(t, os.Rename(strings.TrimSuffix(left, draft), left))
	must(t, d.Close())
	d = folder(t, path)
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Error("the draft is there:", err)
	}
	same(t, load(t, d, func() string { write(t, d, "run"); return "run" }()), nil)
}

// FuzzRead reads what is in no file that this package wrote.
func FuzzRead(f *testing.F) {
	whole := sealed("run", `{"kind":"before","data":{"a":1.50}}`, `{"kind":"asked"}`, `{"kind":"\u0041","data":null}`)
	f.Add([]byte(whole))
	f.Add([]byte(whole[:len(whole)-3]))
	f.Add([]byte(whole + "\n"))
	f.Add([]byte(sealed("run", `{`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := read(text)
		if err != nil {
			e := err.(*DamageError)
			if e.Offset > int64(len(text)) || e.Reason == "" {
				t.Fatalf("%#v", e)
			}
			return
		}
		// What is taken is whole lines, and says the same again.
		if c.size > len(text) || text[c.size-1] != '\n' || bytes.IndexByte(text[c.size:], '\n') >= 0 {
			t.Fatalf("%d of %d bytes", c.size, len(text))
		}
		again, err := seal(header{version, c.name})
		must(t, err)
		for _, r := range c.records {
			line, err := r.line()
			must(t, err)
			again = append(again, line...)
		}
		second, err := read(again)
		must(t, err)
		same(t, second.records, c.records)
	})
}
