package space

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parleyhq/parley"
)

var (
	drawWho          = rapid.SampledFrom([]string{"agent", "boss", "files", "you"})
	drawSupport      = rapid.SampledFrom([]string{"*", "note:*", "note:a*", "note:*b", "note:ab", "mcp/*", "mcp/request:tools/call:*", "chat", "capability/*", "space/*", `{"kind":"note","context":{"type":"x"}}`})
	drawCapability   = rapid.SampledFrom([]string{"*", "note:*", "note:a*", "note:*b", "note:ab", "note:b", "chat", "capability/*", "mcp/*", "mcp/request:tools/call:w", `{"kind":"note","context":{"type":"x"}}`})
	drawAddressees   = rapid.SampledFrom([]string{``, `"to":["files"],`, `"to":["agent"],`, `"to":["files","agent"],`, `"to":["you","nobody"],`})
	drawWithin       = rapid.SampledFrom([]string{``, ``, `"context":{"id":"c1","type":"x"},`, `"context":{"id":"c1"},`, `"context":{"id":"c2"},`})
	drawRequestState = rapid.SampledFrom([]string{``, `,"requestState":"s"`})
	drawEnds         = rapid.SampledFrom([]string{``, ``, `,"expires":"2026-01-02T10:00:00Z"`, `,"expires":"2026-01-02T09:30:00.25+00:07"`})
)

// drawFrame is something that a participant may send: most ids are new, and what
// is named is there.
func (l *life) drawFrame(t *rapid.T) string {
	l.sent++
	id, other := fmt.Sprint("e", l.sent), fmt.Sprint("e", rapid.IntRange(0, l.sent-1).Draw(t, "other"))
	if rapid.IntRange(0, 15).Draw(t, "used before") == 15 {
		id = other
	}
	call := `"payload":{"method":"tools/call","params":{"name":"w","arguments":{"n":` + fmt.Sprint(rapid.IntRange(0, 1).Draw(t, "argument")) + `}}`
	about := fmt.Sprintf(`"id":%q,`, id)
	named := about + fmt.Sprintf(`"correlation_id":%q,`, other)
	switch rapid.SampledFrom([]string{"grant", "revoke", "revoke grant", "redact", "propose", "request", "fulfil", "amend", "answer", "ask for more", "go on", "reject", "withdraw", "accept", "note"}).Draw(t, "what") {
	case "grant":
		return fmt.Sprintf(`{%s"kind":"capability/grant","payload":{"recipient":%q,"capabilities":[%s]%s}}`, about, drawWho.Draw(t, "to"), drawCapabilities(t), drawEnds.Draw(t, "ends"))
	case "revoke":
		return fmt.Sprintf(`{%s"kind":"capability/revoke","payload":{"recipient":%q,"capabilities":[%s]}}`, about, drawWho.Draw(t, "of"), drawCapabilities(t))
	case "revoke grant":
		return fmt.Sprintf(`{%s"kind":"capability/revoke","payload":{"recipient":%q,"grant_id":%q}}`, about, drawWho.Draw(t, "of"), other)
	case "redact":
		return fmt.Sprintf(`{%s"kind":"space/redact","payload":{"id":%q}}`, about, other)
	case "propose":
		return fmt.Sprintf(`{%s%s"kind":"mcp/proposal:tools/call:w",%s%s%s}}`, about, drawAddressees.Draw(t, "to"), call, drawEnds.Draw(t, "ends"), rapid.SampledFrom([]string{``, `,"collect":true`}).Draw(t, "collect"))
	case "request":
		return fmt.Sprintf(`{%s%s%s"kind":"mcp/request:tools/call:w",%s}}`, about, drawAddressees.Draw(t, "to"), drawWithin.Draw(t, "context"), call)
	case "fulfil":
		return fmt.Sprintf(`{%s"to":["files"],"kind":"mcp/request:tools/call:w",%s}}`, named, call)
	case "amend":
		return fmt.Sprintf(`{%s"to":["files"],"amends":true,"kind":"mcp/request:tools/call:w",%s}}`, named, call)
	case "answer":
		return fmt.Sprintf(`{%s%s"kind":"mcp/response:tools/call:w","payload":{"result":{}}}`, named, drawWithin.Draw(t, "context"))
	case "ask for more":
		return fmt.Sprintf(`{%s"kind":"mcp/response:tools/call:w","payload":{"result":{"resultType":"input_required"%s}}}`, named, drawRequestState.Draw(t, "state"))
	case "go on":
		return fmt.Sprintf(`{%s"to":["files"],"kind":"mcp/request:tools/call:w",%s,"inputResponses":{}%s}}}`, named, strings.TrimSuffix(call, "}"), drawRequestState.Draw(t, "state"))
	case "accept":
		return fmt.Sprintf(`{%s"kind":"space/accept-tool","payload":{"participant":"files","tool":"w"}}`, about)
	case "reject":
		return fmt.Sprintf(`{%s"kind":"mcp/reject:tools/call:w","payload":{"reason":"no"}}`, named)
	case "withdraw":
		return fmt.Sprintf(`{%s"kind":"mcp/withdraw:tools/call:w","payload":{}}`, named)
	default:
		kind := rapid.SampledFrom([]string{"note:ab", "note:b", "chat"}).Draw(t, "kind")
		return fmt.Sprintf(`{%s%s"kind":%q,"payload":{}}`, about, drawWithin.Draw(t, "context"), kind)
	}
}

func drawCapabilities(t *rapid.T) string {
	list := rapid.SliceOfNDistinct(drawCapability, 1, 2, rapid.ID[string]).Draw(t, "capabilities")
	for i, c := range list {
		if !strings.HasPrefix(c, "{") {
			list[i] = fmt.Sprintf("%q", c)
		}
	}
	return strings.Join(list, ",")
}

// drawConfiguration is who takes part, with at least one who may do everything.
func drawConfiguration(t *rapid.T) map[string]parley.Capabilities {
	people := map[string]parley.Capabilities{"you": caps("*")}
	for _, id := range []string{"agent", "boss", "files"} {
		if rapid.IntRange(0, 7).Draw(t, id+" is left out") == 7 {
			continue
		}
		set := parley.Capabilities{}
		for _, c := range rapid.SliceOfN(drawSupport, 0, 4).Draw(t, id) {
			set = append(set, parley.MustCapability(c))
		}
		people[id] = set
	}
	return people
}

// life is a space that is stopped and started again, now and then.
type life struct {
	*play
	t     *rapid.T
	saved string // the newest checkpoint
	at    int    // how much of the record it stands behind
	sent  int    // for ids
}

func (l *life) act() {
	switch rapid.SampledFrom([]string{"send", "send", "send", "send", "send", "send", "send", "send", "come", "go", "list", "collect", "wait", "save"}).Draw(l.t, "act") {
	case "send":
		l.send(drawWho.Draw(l.t, "from"), l.drawFrame(l.t))
	case "come":
		if id := drawWho.Draw(l.t, "who"); l.state.Known(id) {
			l.connect(id)
		}
	case "go":
		l.admitSystem(l.state.Disconnect(drawWho.Draw(l.t, "who"), l.now), nil)
	case "list":
		l.list("files w=" + rapid.SampledFrom([]string{"a", "b"}).Draw(l.t, "definition") + " v=a")
	case "collect":
		l.admitSystem(l.state.Collected(fmt.Sprint("e", rapid.IntRange(0, l.sent).Draw(l.t, "proposal")), l.now))
	case "wait":
		l.now = l.now.Add(time.Duration(rapid.IntRange(0, 30).Draw(l.t, "minutes")) * time.Minute)
		l.expire()
	case "save":
		l.save()
	}
}

func (l *life) save() {
	data, err := l.state.Copy().Snapshot().JSON()
	if err != nil {
		l.t.Fatal("a checkpoint cannot be made: ", err)
	}
	l.saved, l.at = string(data), len(l.record)
}

// restoredLate is the state of the newest checkpoint and what follows it.
func (l *life) restoredLate() *State {
	s, rest := New(l.rules), l.record
	if l.saved != "" {
		n, err := ReadSnapshot([]byte(l.saved))
		if err != nil {
			l.t.Fatal("a checkpoint cannot be read: ", err)
		}
		s, rest = Restore(l.rules, n), l.record[l.at:]
	}
	for _, v := range rest {
		wire, _ := v.Envelope.MarshalJSON()
		e, err := parley.Decode(wire, 0)
		if err != nil {
			l.t.Fatal(err)
		}
		s.Apply(e, v.Kind)
	}
	return s
}

// startAgain goes on with a state that was read from the record.
func (l *life) startAgain(s *State) {
	s.AdoptConnections(l.state)
	l.state = s
	for _, e := range s.Reconcile(l.now) {
		l.admitSystem(e, nil)
	}
	l.expire()
}

func newLife(t *testing.T, rt *rapid.T) *life {
	l := &life{play: newPlay(t, "a life"), t: rt}
	l.rules.Limits.Burst = 1_000
	l.rules.Participants = drawConfiguration(rt)
	l.rules.Pins = map[string]bool{"files": rapid.Bool().Draw(rt, "pinned")}
	l.rules.Lazy = rapid.IntRange(0, 4).Draw(rt, "lazy") == 4
	l.start()
	return l
}

// TestSnapshotGoesOnAsTheRecordDoes holds a state that was restored from a
// checkpoint, and went on from there, against one that has read everything.
func TestSnapshotGoesOnAsTheRecordDoes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLife(t, rt)
		for range rapid.IntRange(1, 3).Draw(rt, "runs") {
			for range rapid.IntRange(10, 50).Draw(rt, "acts") {
				l.act()
			}
			restored := l.restoredLate()
			if got, want := dump(restored), dump(l.rebuilt()); got != want {
				rt.Fatalf("restored\n got %s\nwant %s", got, want)
			}
			if got, want := dump(restored), dump(l.state); got != want {
				rt.Fatalf("restored\n got %s\nlive %s", got, want)
			}
			l.startAgain(restored)
		}
	})
}

// TestSnapshotGivesNothingBack does the same under a configuration that was
// changed. There a checkpoint may know of less: what ended under the one before
// stays so. It allows nothing that neither the record gives nor was in force.
func TestSnapshotGivesNothingBack(t *testing.T) {
	actions := []parley.Action{{Kind: parley.SplitKind("mcp/request:tools/call:w")}, {Kind: parley.SplitKind("mcp/proposal:tools/call:v")}}
	for _, kind := range []string{"chat", "note:ab", "note:b", "note:ax", "capability/grant", "space/redact", "else"} {
		actions = append(actions, parley.Action{Kind: parley.SplitKind(kind)}, parley.Action{Kind: parley.SplitKind(kind), ContextType: "x"})
	}
	rapid.Check(t, func(rt *rapid.T) {
		l := newLife(t, rt)
		for range rapid.IntRange(1, 4).Draw(rt, "runs") {
			for range rapid.IntRange(10, 50).Draw(rt, "acts") {
				l.act()
			}
			l.rules.Participants = drawConfiguration(rt)
			before := l.state
			restored, replayed := l.restoredLate(), l.rebuilt()
			for _, id := range slices.Sorted(maps.Keys(l.rules.Participants)) {
				for _, a := range actions {
					if restored.Capabilities(id).Allow(&a) && !replayed.Capabilities(id).Allow(&a) && !before.Capabilities(id).Allow(&a) {
						rt.Fatalf("%s may send %s in context %q again:\n%s\nthe record says\n%s",
							id, a.Kind, a.ContextType, describe(restored.Capabilities(id)), describe(replayed.Capabilities(id)))
					}
				}
			}
			l.startAgain(restored)
		}
	})
}
