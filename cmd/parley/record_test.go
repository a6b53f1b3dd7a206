package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/journal/sqlite"
)

// overtaking answers with a record that retention overtakes so many times, and
// then with one that is whole.
func overtaking(t *testing.T, times int) *gatewayRecord {
	var whole bytes.Buffer
	if _, err := journal.Export(&whole, "demo", func(func(*journal.Record, error) bool) {}); err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(whole.String(), "\n")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if times--; times >= 0 {
			fmt.Fprintf(w, "%s\n{\"type\":\"overtaken\"}\n", first)
			return
		}
		_, _ = w.Write(whole.Bytes())
	}))
	t.Cleanup(srv.Close)
	return &gatewayRecord{api{address: address{url: srv.URL, space: "demo"}, http: srv.Client()}}
}

func TestRecordsThatRetentionOvertakes(t *testing.T) {
	for _, c := range []struct {
		times int
		holds bool
	}{{0, true}, {1, true}, {readTries - 1, true}, {readTries, false}} {
		said := func(err error) bool {
			return c.holds && err == nil ||
				!c.holds && errors.Is(err, &parley.Error{Code: parley.Unavailable}) && strings.Contains(err.Error(), "retention overtook it")
		}
		audit, err := overtaking(t, c.times).verify(t.Context())
		if !said(err) || c.holds && audit.Space != "demo" {
			t.Errorf("overtaken %d times, it verifies as %+v, %v", c.times, audit, err)
		}
		path := filepath.Join(t.TempDir(), "export.jsonl")
		rec := overtaking(t, c.times)
		err = writeOut(&terminal{}, path, func(w io.Writer) error {
			_, err := rec.export(t.Context(), w)
			return err
		})
		if !said(err) {
			t.Errorf("overtaken %d times, it is exported with %v", c.times, err)
		}
		b, err := os.ReadFile(path)
		if c.holds != (err == nil) || c.holds && (strings.Count(string(b), "\n") != 2 || !bytes.Contains(b, []byte(`"head"`))) {
			t.Errorf("overtaken %d times, the export is %s, %v", c.times, b, err)
		}
	}
}

// What has gone to standard output cannot be taken back.
func TestOvertakenOnStandardOutput(t *testing.T) {
	var out bytes.Buffer
	rec := overtaking(t, 1)
	err := writeOut(&terminal{out: &out}, "", func(w io.Writer) error {
		_, err := rec.export(t.Context(), w)
		return err
	})
	if e, ok := errors.AsType[*parley.Error](err); !ok || !strings.Contains(e.Message, "not whole") || !strings.Contains(e.Hint, "--out") {
		t.Errorf("it says %v", err)
	}
}

func TestPrintAudit(t *testing.T) {
	a := journal.Audit{Space: "demo", Records: 9, Envelopes: 5, Refusals: 1, Head: journal.Head{Index: 20, Seq: 12}}
	more := a
	more.Checkpoints, more.Markers, more.Dropped = 2, 1, 11
	hash := a.Head.String()
	for _, c := range []struct {
		audit journal.Audit
		json  bool
		want  string
	}{
		{a, false, "the chain of demo holds: 5 envelopes, 1 refusal, head " + hash},
		{more, false, "the chain of demo holds: 5 envelopes, 1 refusal, 2 checkpoints, 1 marker of retention, 11 records dropped before them, head " + hash},
		{a, true, `{"ok":true,"space":"demo","records":9,"envelopes":5,"refusals":1,"head":"` + hash + `"}`},
		{more, true, `{"ok":true,"space":"demo","records":9,"envelopes":5,"refusals":1,"checkpoints":2,"markers":1,"dropped":11,"head":"` + hash + `"}`},
	} {
		var out bytes.Buffer
		if err := (&terminal{out: &out, outTTY: !c.json}).printAudit(c.audit); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(out.String()); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

func TestJournalWithoutSpaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.db")
	j, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	if err == nil {
		err = j.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, space := range []string{"", "demo"} {
		_, err := openFile(t.Context(), path, space)
		if e := asError(err); e.Code != parley.NotFound || e.Message != "the journal "+path+" holds no space" || strings.HasSuffix(e.Hint, ": ") {
			t.Errorf("space %q: %s: %s, hint %q", space, e.Code, e.Message, e.Hint)
		}
	}
}
