package runlog

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	switch dir := os.Getenv("RUNLOG_DIR"); os.Getenv("RUNLOG_CHILD") {
	case "":
		goleak.VerifyTestMain(m)
	case "append":
		fail(appendUntilKilled(dir))
	case "fill":
		fail(appendUntilFull(dir))
	}
}

func fail(err error) {
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// child is this program, doing something else.
func child(t *testing.T, what, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), "RUNLOG_CHILD="+what, "RUNLOG_DIR="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

const writers = 4

// appendUntilKilled appends numbers from several writers, and prints each one that is kept.
func appendUntilKilled(dir string) error {
	d, err := Open(dir)
	if err != nil {
		return err
	}
	l, records, err := d.Load("run")
	if err != nil {
		return err
	}
	fmt.Println("ready")
	next := counted(records)
	var all sync.WaitGroup
	var mu sync.Mutex
	for w := range writers {
		all.Go(func() {
			for n := next[w]; ; n++ {
				text := fmt.Sprintf(`[%d,%d,%q]`, w, n, strings.Repeat("x", 100*w))
				err := l.Append(Record{"n", jsontext.Value(text)})
				mu.Lock()
				if err != nil {
					fail(err)
				}
				fmt.Println(w, n)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return nil
}

// counted is each writer's next number: those before are there, in their order.
func counted(records []Record) (next [writers]int) {
	for _, r := range records {
		var w, n int
		if _, err := fmt.Sscanf(string(r.Data), "[%d,%d,", &w, &n); err != nil || n != next[w] {
			panic(fmt.Sprintf("%s comes when %v are next", r.Data, next))
		}
		next[w]++
	}
	return next
}

// What a process said that it has kept is there after it was killed at any
// moment, and the next process goes on with it.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	d, err := Open(dir)
	must(t, err)
	write(t, d, "run")
	must(t, d.Close())
	var kept [writers]int
	for range 15 {
		said := killed(t, dir, 1+rand.IntN(40))
		for w, n := range said {
			kept[w] = max(kept[w], n)
		}
		d, err := Open(dir) // the lock is gone with its process
		must(t, err)
		next := counted(load(t, d, "run"))
		must(t, d.Close())
		for w := range writers {
			if next[w] < kept[w] || next[w] > kept[w]+1 {
				t.Errorf("writer %d: %d are there, it said %d", w, next[w], kept[w])
			}
			kept[w] = next[w]
		}
	}
	t.Log(kept, "were kept")
}

// killed kills a child after it has said so many numbers, and returns how many each writer has kept.
func killed(t *testing.T, dir string, after int) (kept [writers]int) {
	t.Helper()
	cmd := child(t, "append", dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for said := 0; lines.Scan(); said++ {
		first, second, _ := strings.Cut(lines.Text(), " ")
		w, err := strconv.Atoi(first)
		n, err2 := strconv.Atoi(second)
		switch {
		case lines.Text() == "ready":
		case errors.Join(err, err2) != nil:
			t.Fatal("the child says:", lines.Text())
		default:
			kept[w] = n + 1
		}
		if said == after {
			must(t, cmd.Process.Kill())
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
		t.Fatal("the child ended by itself:", err)
	}
	return kept
}
