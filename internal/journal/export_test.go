package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// sink takes whatever becomes durable.
type sink struct{ durable chan *journal.Record }

func (s sink) Durable(records []*journal.Record) {
	for _, r := range records {
		s.durable <- r
	}
}

func (s sink) Failed([]*journal.Record, error) { close(s.durable) }

// recorded is the log of a short conversation, with a refusal in it and a
// payload that has a line break.
func recorded(t *testing.T) journal.Log {
	t.Helper()
	s := sink{make(chan *journal.Record, 8)}
	j := journal.NewMemory(journal.MemoryOptions{Epoch: "e1"})
	log, err := j.Open(t.Context(), "demo", s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	ts := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for i, text := range []string{
		`{"protocol":"mcpx/v0.1","id":"a","from":"you","kind":"chat","payload":{"text":"hello"}}`,
		"{\"id\":\"b\",\"from\":\"agent\",\"to\":[\"files\"],\"kind\":\"mcp/proposal:tools/call\",\"context\":{\"id\":\"c\",\"type\":\"reasoning\"},\"payload\":{\n\"method\":\"tools/call\",\"params\":{\"name\":\"write_file\"}}}",
		`{"id":"d","from":"you","kind":"chat","correlation_id":["a","b"],"x":1,"payload":{"text":"\u202e"}}`,
	} {
		e, err := parley.Decode([]byte(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		e.TS = ts.Add(time.Duration(i) * time.Second)
		effective := parley.SplitKind(e.Kind)
		if i == 1 {
			effective.Subject = "write_file"
		}
		r := journal.Envelope(e, effective, [16]byte{byte(i + 1)})
		if i == 1 {
			r.To = append(slices.Clone(r.To), "proposer") // as where it answers a fulfilment
		}
		log.Append(r)
		<-s.durable
	}
	log.Append(journal.NewRefusal(ts, "agent", "z", "mcp/request:tools/call:write_file",
		journal.Refusal{Code: parley.CapabilityViolation, Bytes: 12}, [16]byte{9}))
	<-s.durable
	return log
}

func exported(t *testing.T, log journal.Reader) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := journal.Export(&out, "demo", log.Read(t.Context(), journal.Query{Chain: true})); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestExportIsTheRecord(t *testing.T) {
	log := recorded(t)
	text := exported(t, log)
	if n := strings.Count(text, "\n"); n != 6 {
		t.Errorf("%d lines, want one for each record, a first and a last:\n%s", n, text)
	}
	x, err := journal.ReadExport(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if x.Space != "demo" {
		t.Errorf("space is %q", x.Space)
	}
	var got []string
	for r, err := range x.Records() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, show(r))
	}
	var want []string
	for r, err := range log.Read(t.Context(), journal.Query{Chain: true}) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, show(r))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	bounds, err := log.Bounds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if head, ok := x.Head(); !ok || head != bounds.Head {
		t.Errorf("head is %v, %v, want %v", head, ok, bounds.Head)
	}
}

func show(r *journal.Record) string {
	c := *r
	c.Token = nil
	return fmt.Sprintf("%+v %q", c, c.Body)
}

func TestVerifyExport(t *testing.T) {
	log := recorded(t)
	whole := exported(t, log)
	lines := strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n")
	lines[len(lines)-1] += "\n"
	without := func(cut ...int) string {
		var kept []string
		for i, line := range lines {
			if !slices.Contains(cut, i) {
				kept = append(kept, line)
			}
		}
		return strings.Join(kept, "")
	}
	for _, c := range []struct {
		name, text string
		seq        uint64 // of the break, 0 where all holds
		reason     string
	}{
		{"whole", whole, 0, ""},
		{"a letter of a payload", strings.Replace(whole, "hello", "hellp", 1), 1, "edited"},
		{"a sender", strings.Replace(whole, `"from":"you"`, `"from":"she"`, 1), 1, "edited"},
		{"an effective kind", strings.Replace(whole, `tools/call:write_file","to`, `tools/call:read_file","to`, 1), 2, "edited"},
		{"an addressee", strings.Replace(whole, `"to":["files","proposer"]`, `"to":["files"]`, 1), 2, "edited"},
		{"an unknown field", strings.Replace(whole, `"x":1`, `"x":2`, 1), 3, "edited"},
		{"a member that nobody recorded", strings.Replace(whole, `"index":1,`, `"note":"approved by legal","index":1,`, 1), 1, "edited"},
		{"a sender beside an envelope", strings.Replace(whole, `"type":"envelope",`, `"type":"envelope","from":"she",`, 1), 1, "edited"},
		{"a member that is not what it should be", strings.Replace(whole, `"index":1,`, `"index":1,"superseded":"approved by legal",`, 1), 1, "edited"},
		{"an effective kind that is none", strings.Replace(whole, `"index":1,`, `"index":1,"effective":{"note":"approved by legal"},`, 1), 1, "edited"},
		{"addressees that are none", strings.Replace(whole, `"index":1,`, `"index":1,"to":"legal",`, 1), 1, "edited"},
		{"a blank between members", strings.Replace(whole, `"index":1,`, `"index":1, `, 1), 1, "edited"},
		{"a member beside the head", strings.Replace(whole, `"head":`, `"note":1,"head":`, 1), 4, "edited"},
		{"a refusal", strings.Replace(whole, `"bytes":12`, `"bytes":13`, 1), 3, "edited"},
		{"blanks", strings.Replace(whole, `{"text":"hello"}`, `{"text": "hello"}`, 1), 1, "edited"},
		{"cut out", without(2), 2, "cut out"},
		{"swapped", lines[0] + lines[2] + lines[1] + lines[3] + lines[4] + lines[5], 1, "cut off"},
		{"cut off, the head kept", without(4), 3, "cut off"},
		{"cut off with the head", without(4, 5), 4, "cut off"},
		{"cut off inside a line", whole[:len(whole)-200], 4, "edited"},
		{"a line that is none", strings.Replace(whole, lines[3], "nonsense\n", 1), 3, "edited"},
		{"more after the head", whole + lines[1], 4, "edited"},
	} {
		t.Run(c.name, func(t *testing.T) {
			audit, err := journal.VerifyExport(strings.NewReader(c.text))
			b, broken := errors.AsType[*journal.Break](err)
			switch {
			case c.seq == 0 && (err != nil || audit.Records != 4 || audit.Envelopes != 3 || audit.Refusals != 1):
				t.Errorf("got %+v, %v", audit, err)
			case c.seq > 0 && (!broken || b.Seq != c.seq || !strings.HasPrefix(b.Reason, c.reason)):
				t.Errorf("got %v, want a break at %d: %s", err, c.seq, c.reason)
			}
		})
	}
}

func TestVerifyExportUnderAnotherName(t *testing.T) {
	text := strings.Replace(exported(t, recorded(t)), `"space":"demo"`, `"space":"prod"`, 1)
	_, err := journal.VerifyExport(strings.NewReader(text))
	if b, ok := errors.AsType[*journal.Break](err); !ok || b.Index != 1 {
		t.Errorf("the export of one space passes for another's: %v", err)
	}
}

func TestVerifyExportAgainstAKeptHead(t *testing.T) {
	log := recorded(t)
	bounds, err := log.Bounds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	whole := exported(t, log)
	if _, err := journal.VerifyExport(strings.NewReader(whole), bounds.Head); err != nil {
		t.Error(err)
	}
	longer := bounds.Head
	longer.Index++
	for _, h := range []journal.Head{longer, {Index: 2, Seq: 2}} {
		_, err := journal.VerifyExport(strings.NewReader(whole), h)
		if _, broken := errors.AsType[*journal.Break](err); !broken {
			t.Errorf("against %v: %v", h, err)
		}
	}
}

func TestVerifyExportOfSomethingElse(t *testing.T) {
	for _, text := range []string{"", "hello\n", `{"type":"export","version":2}` + "\n", `{"a":1}`, `{"type":"export","version":1,"space":"demo","note":"approved"}` + "\n"} {
		_, err := journal.VerifyExport(strings.NewReader(text))
		if !errors.Is(err, &parley.Error{Code: parley.InvalidArgument}) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestVerifyLog(t *testing.T) {
	log := recorded(t)
	audit, err := journal.Verify(t.Context(), "demo", log)
	if err != nil || audit.Records != 4 || audit.Space != "demo" {
		t.Errorf("got %+v, %v", audit, err)
	}
	far := audit.Head
	far.Index, far.Seq = 9, 8
	if _, err := journal.Verify(t.Context(), "demo", log, far); err == nil {
		t.Error("a chain that ends before the head that was kept should not hold")
	}
}

func FuzzVerifyExport(f *testing.F) {
	f.Add([]byte(`{"type":"export","version":1,"space":"demo"}` + "\n" + `{"type":"refused","index":1,"hash":""}`))
	f.Add([]byte(`{"type":"export","version":1,"space":"demo"}` + "\n" + `{"type":"head","head":"0:0:` + strings.Repeat("0", 64) + `"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		audit, err := journal.VerifyExport(bytes.NewReader(text))
		if err == nil && audit.Records > 0 && audit.Head.Index != audit.Dropped+audit.Records {
			t.Errorf("%d records, head %v", audit.Records, audit.Head)
		}
	})
}
