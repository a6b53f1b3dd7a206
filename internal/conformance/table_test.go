package conformance

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
)

var tables = flag.Bool("tables", false, "print what was tested, and how it went")

// table collects rows from tests that run at the same time, and prints them when
// the test that made it ends, if that was asked for.
type table struct {
	mu   sync.Mutex
	rows []string
}

func newTable(t *testing.T, head ...string) *table {
	r := new(table)
	t.Cleanup(func() {
		if *tables {
			r.print(strings.Join(head, "\t"))
		}
	})
	return r
}

func (r *table) add(cells ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = append(r.rows, strings.Join(cells, "\t"))
}

func (r *table) print(head string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.Sort(r.rows)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, head)
	for _, row := range r.rows {
		fmt.Fprintln(w, row)
	}
	_ = w.Flush()
}
