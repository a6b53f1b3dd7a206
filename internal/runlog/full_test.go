//go:build linux || darwin

package runlog

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// room is how large files may become in the child.
const room = 10_000

// appendUntilFull appends to a disk on which no file gets larger than some
// bytes, and looks at what it can still do then.
func appendUntilFull(dir string) error {
	if err := limitFiles(room); err != nil {
		return err
	}
	d, err := Open(dir)
	if err != nil {
		return err
	}
	l, err := d.Create("run")
	if err != nil {
		return err
	}
	kept := 0
	for err == nil {
		if err = l.Append(full(kept)); err == nil {
			kept++
		}
	}
	if !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("a full disk is told as %w", err)
	}
	if err := l.Append(Record{"small", nil}); err != nil { // fits
		return err
	}
	if err := l.Append(full(kept)); !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("again it is told as %w", err)
	}
	if err := limitFiles(1); err != nil {
		return err
	}
	if _, err := d.Create("other"); !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("where nothing can be made it is told as %w", err)
	}
	if err := limitFiles(2 * room); err != nil {
		return err
	}
	if err := l.Append(full(kept)); err != nil {
		return fmt.Errorf("where there is room again: %w", err)
	}
	fmt.Println(kept)
	return nil // without closing anything
}

func full(n int) Record {
	return Record{"n", jsontext.Value(fmt.Sprintf(`[%d,%q]`, n, strings.Repeat("x", 700)))}
}

// limitFiles bounds how large files become that this process writes.
func limitFiles(most uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	limit.Cur = min(limit.Max, most)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}

// A disk that is full costs what did not fit, and nothing that was kept before
// or comes when there is room again.
func TestFull(t *testing.T) {
	dir := t.TempDir()
	out, err := child(t, "fill", dir).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	d := folder(t, dir)
	var want []Record
	for n := range 13 {
		want = append(want, full(n))
	}
	same(t, load(t, d, "run"), append(want, Record{"small", nil}, full(13)))
	for info, err := range d.Names() {
		if err != nil || info.Name != "run" {
			t.Error(info, err)
		}
	}
	files, err := os.ReadDir(dir)
	must(t, err)
	if len(files) != 2 { // with the lock
		t.Error("what could not be made has left something:", files)
	}
}
