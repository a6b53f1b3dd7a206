package sqlite

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/journal/journaltest"
)

// testdata/vN.db is a journal of schema N, written when that was the newest,
// and vN.head holds the heads of its spaces, as kept elsewhere. They never
// change: -make-fixture writes those of today's schema alone.
var makeFixture = flag.Bool("make-fixture", false, "write testdata/vN.db and vN.head, N being today's schema")

func writeFixture(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	j := open(t, Options{Path: path, Sync: Off, boot: "boot-1"})
	talk(t, j, "demo", 0)
	talk(t, j, "other", 0)
	path = killed(t, path) // with Off, another epoch follows
	j = open(t, Options{Path: path, boot: "boot-1"})
	l := talk(t, j, "demo", 100)
	strike(t, l, talkID(13))
	var heads strings.Builder
	for _, space := range []string{"demo", "other"} {
		r, err := j.Reader(t.Context(), space)
		must(t, err)
		fmt.Fprintln(&heads, space, bounds(t, r).Head)
	}
	must(t, j.Close())
	name := filepath.Join("testdata", fmt.Sprintf("v%d", len(migrations)))
	copyFile(t, path, name+".db")
	must(t, os.WriteFile(name+".head", []byte(heads.String()), 0o644))
}

func talkID(n int) string { return fmt.Sprintf("01890b5a-7c00-7000-8000-%012d", n) }

// talk puts on record what fixtures hold: a conversation, and what was refused
// of it. Its ids begin after first.
func talk(t *testing.T, j *Journal, space string, first int) journal.Log {
	t.Helper()
	sink, n := journaltest.NewSink(), first
	l, err := j.Open(t.Context(), space, sink)
	must(t, err)
	next := func() (id string, ts time.Time, salt [16]byte) {
		n++
		return talkID(n), time.UnixMilli(1_700_000_000_000 + int64(n)*1000).UTC(), [16]byte{byte(n)}
	}
	say := func(from, to, kind, payload string, more func(*parley.Envelope)) string {
		id, ts, salt := next()
		e := &parley.Envelope{Protocol: parley.ProtocolMCPx, ID: id, TS: ts, From: from, Kind: kind, Payload: []byte(payload)}
		if to != "" {
			e.To = strings.Fields(to)
		}
		if more != nil {
			more(e)
		}
		l.Append(journal.Envelope(e, parley.SplitKind(kind), salt))
		return id
	}
	answers := func(ids ...string) func(*parley.Envelope) {
		return func(e *parley.Envelope) { e.Correlation = parley.CorrelateWith(ids...) }
	}
	refuse := func(kind string, more int) {
		id, ts, salt := next()
		l.Append(journal.NewRefusal(ts, "eve", id, kind, journal.Refusal{
			Code: parley.CapabilityViolation, Digest: sha256.Sum256([]byte(id)), Bytes: 77, Count: more}, salt))
	}
	const call = `{"method":"tools/call","params":{"name":"write_file","arguments":{"path":"a.txt"}}}`

	say(parley.GatewayID, "", parley.KindPresence, `{"event":"join","participant":{"id":"ann","capabilities":["*"]}}`, nil)
	say(parley.GatewayID, "", parley.KindPresence, `{"event":"join","participant":{"id":"agent","capabilities":["chat","mcp/proposal:*"]}}`, nil)
	say("ann", "", "chat", `{"text":"the quick brown fox of `+space+`"}`, nil)
	refuse("chat", 0)
	say("agent", "ann eve", "chat", `{"text":"日本語 und Größe, \"quoted\"\nsecond line"}`, func(e *parley.Envelope) {
		e.Protocol = parley.ProtocolMCPP
		e.Context = &parley.Context{ID: "c-2", Type: "reasoning", Parent: "c-1", Metadata: []byte(`{"step": 1}`)}
		e.Amends, e.Extra = true, []byte(`"x-trace":"1","y":[1, 2]`)
	})
	grant := say("ann", "agent", parley.KindGrant, `{"recipient":"agent","capabilities":["mcp/request:tools/call:read_file"]}`, nil)
	proposal := say("agent", "files", "mcp/proposal:tools/call:write_file", call, nil)
	request := say("ann", "files", "mcp/request:tools/call:write_file", call, answers(proposal))
	say("files", "ann agent", "mcp/response:tools/call:write_file", `{"result":{"content":[]}}`, answers(request, proposal))
	refuse("mcp/request:tools/call:write_file", 0)
	refuse("chat", 40)
	say("ann", "agent", parley.KindRevoke, `{"recipient":"agent","grant_id":"`+grant+`"}`, nil)
	say("ann", "", "chat", `{"text":"the password is swordfish"}`, nil)
	say("agent", "files", "mcp/proposal:tools/call:delete_file", `{"method":"tools/call","params":{"name":"delete_file"}}`, nil)
	if first > 0 {
		say("ann", "", parley.KindRedact, `{"id":"`+talkID(13)+`","reason":"a secret"}`, nil)
	}
	sink.WaitDurable(n - first)
	return l
}

// A journal of any schema that was ever released is what it was: its chains
// hold against the heads that were kept, all of it can be found, and it goes on.
func TestFixtures(t *testing.T) {
	if *makeFixture {
		writeFixture(t)
	}
	fixtures, err := filepath.Glob("testdata/v*.db")
	must(t, err)
	if len(fixtures) == 0 {
		t.Fatal("there are none")
	}
	for _, fixture := range fixtures {
		t.Run(filepath.Base(fixture), func(t *testing.T) {
			heads := keptHeads(t, strings.TrimSuffix(fixture, ".db")+".head")
			path := filepath.Join(t.TempDir(), "parley.db")
			copyFile(t, fixture, path)
			t.Run("first", func(t *testing.T) { checkFixture(t, path, heads, 0) })
			t.Run("again", func(t *testing.T) { checkFixture(t, path, heads, 1) })
		})
	}
}

// checkFixture opens a fixture to which appended records were added.
func checkFixture(t *testing.T, path string, heads map[string]journal.Head, appended uint64) {
	j := open(t, Options{Path: path})
	for space, head := range heads {
		sink := journaltest.NewSink()
		l, err := j.Open(t.Context(), space, sink)
		must(t, err)
		audit, err := journal.Verify(t.Context(), space, l, head)
		must(t, err)
		talks, more, wantEpochs := uint64(1), appended, 1+int(appended) // the other's second one is empty first
		if space == "demo" {
			talks, more, wantEpochs = 2, 1+appended, 2 // the order to redact
		}
		want := journal.Audit{
			Space: space, Head: bounds(t, l).Head, Records: 14*talks + more,
			Envelopes: 11*talks + more, Refusals: 3 * talks, Redacted: talks - 1,
		}
		if audit != want {
			t.Errorf("it holds %+v\n     want %+v", audit, want)
		}
		if appended == 0 && audit.Head != head {
			t.Errorf("the chain of %s ends at %s, kept was %s", space, audit.Head, head)
		}
		epochs := map[string]bool{}
		for r, err := range l.Read(t.Context(), journal.Query{Chain: true}) {
			must(t, err)
			epochs[r.Epoch] = true
		}
		if len(epochs) != wantEpochs {
			t.Errorf("%s has %d epochs, want %d", space, len(epochs), wantEpochs)
		}
		for _, indexed := range []bool{false, true} {
			if indexed {
				must(t, j.WaitIndexed(t.Context(), space, audit.Head.Seq))
			}
			for _, c := range []struct {
				q    journal.Query
				want uint64
			}{
				{journal.Query{Text: "quick FOX " + space}, talks},
				{journal.Query{Text: "größe 日"}, talks},
				{journal.Query{Text: "swordfish"}, 1}, // in demo the other is redacted
				{journal.Query{From: "agent", Kinds: []string{"mcp/proposal:*"}}, 2 * talks},
				{journal.Query{Contexts: []string{"c-2"}, To: "eve"}, talks},
				{journal.Query{Correlation: talkID(7)}, 2},
				{journal.Query{ID: talkID(3)}, 1},
			} {
				if got := ids(t, l, c.q); uint64(len(got)) != c.want {
					t.Errorf("%s, %+v finds %q, want %d", space, c.q, got, c.want)
				}
			}
		}
		epoch := bounds(t, l).Epoch
		l.Append(envelope(1))
		if r := sink.WaitDurable(1)[0]; r.Index != audit.Head.Index+1 || r.Seq != audit.Head.Seq+1 || r.Epoch != epoch {
			t.Errorf("what follows is record %d, seq %d of %s, not %s", r.Index, r.Seq, r.Epoch, epoch)
		}
	}
}

// keptHeads reads lines of a space's name and its head.
func keptHeads(t *testing.T, path string) map[string]journal.Head {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	heads := map[string]journal.Head{}
	for line := range strings.Lines(string(b)) {
		space, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		heads[space], err = journal.ParseHead(text)
		must(t, err)
	}
	return heads
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	must(t, err)
	must(t, os.WriteFile(to, b, 0o644))
}
