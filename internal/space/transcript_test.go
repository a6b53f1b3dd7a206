package space

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

var update = flag.Bool("update", false, "write what the state machine answers into the transcripts")

// TestTranscripts plays testdata/*.txt: cases of envelopes in and decisions
// out. What is indented is the answer; everything else is the play:
//
//	== TITLE                       a new space
//	rules lazy | limit=value …     its rules, before anything else or a restart
//	participant ID CAPABILITY, …   adds to the cast or replaces one of it
//	without ID                     takes one of it away
//	agent> {…}                     the envelope that agent sends
//	connect ID, disconnect ID
//	after DURATION                 the clock moves on
//	restart                        the state is rebuilt from what is on record
//	who ID                         what ID may send
//	proposals                      what is known of them
//	lists ID NAME=TEXT …           the gateway was told of a server's list of tools
//	tools                          what is known of them
//	collected ID                   the gateway is told that a result was fetched
//	uncollected ID TO NAME {…}     what ID finds of a call that it proposed before
//	contexts                       what is known of them
//	open ID                        the requests that wait for ID's answer
//
// The cast, all connected: you and boss, who may do everything; agent, which
// proposes; files, which serves.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := playFile(t, string(want), false)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			compareLines(t, file, got, string(want))
			// The same, with the state restored from a snapshot after each line.
			compareLines(t, file, playFile(t, string(want), true), string(want))
		})
	}
}

func compareLines(t *testing.T, file, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Fatalf("%s:%d\n got %q\nwant %q\n(run with -update to accept)", file, i+1, a, b)
		}
	}
}

// playFile plays every case and returns the text with its answers.
func playFile(t *testing.T, text string, restoring bool) string {
	var out strings.Builder
	var p *play
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "  ") {
			continue // an old answer
		}
		out.WriteString(line + "\n")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "== "):
			p.finish(t)
			p = newPlay(t, strings.TrimPrefix(line, "== "))
			p.restoring = restoring
		default:
			for _, answer := range p.do(line) {
				out.WriteString("  " + answer + "\n")
			}
			if restoring && !p.wasLazy && p.state != nil {
				restored := p.restored()
				restored.AdoptConnections(p.state)
				p.state = restored
			}
		}
	}
	p.finish(t)
	return out.String()
}

// play is one case under way.
type play struct {
	t      *testing.T
	title  string
	rules  Rules
	state  *State
	now    time.Time
	record []Verdict
	ids    int

	restoring bool // from snapshots, not from the record
	wasLazy   bool // once: then a snapshot lacks what the record would tell a strict space
}

func newPlay(t *testing.T, title string) *play {
	p := &play{t: t, title: title, now: time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC)}
	p.rules = Rules{
		Name: "demo",
		Participants: map[string]parley.Capabilities{
			"you":   caps("mcp/*, chat, capability/*, space/*"),
			"boss":  caps("mcp/*, chat, capability/*, space/*"),
			"agent": caps("mcp/proposal:*, mcp/request:*/list, mcp/request:tools/call:read_*, chat"),
			"files": caps("mcp/response:*, mcp/request:notifications/*"),
		},
		NewID: func() string { p.ids++; return "gw" + strconv.Itoa(p.ids) },
	}
	return p
}

func caps(list string) parley.Capabilities {
	var set parley.Capabilities
	for s := range strings.SplitSeq(list, ", ") {
		set = append(set, parley.MustCapability(s))
	}
	return set
}

// start makes the space, once its rules are known, with everybody connected.
func (p *play) start() {
	if p.state != nil {
		return
	}
	p.state = New(p.rules)
	for _, id := range []string{"agent", "boss", "files", "you"} {
		if p.state.Known(id) {
			p.admitSystem(p.state.Connect(id, p.now))
		}
	}
}

func (p *play) do(line string) []string {
	if who, frame, ok := strings.Cut(line, "> "); ok && parley.ValidParticipantID(who) {
		p.start()
		return p.send(who, frame)
	}
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "rules":
		return p.setRules(rest)
	case "participant":
		id, list, _ := strings.Cut(rest, " ")
		p.rules.Participants[id] = caps(list)
		return nil
	case "without":
		delete(p.rules.Participants, rest)
		return nil
	}
	p.start()
	switch verb {
	case "connect":
		return p.connect(rest)
	case "disconnect":
		return p.admitSystem(p.state.Disconnect(rest, p.now), nil)
	case "after":
		p.now = p.now.Add(p.duration(rest))
		return p.expire()
	case "restart":
		return p.restart()
	case "who":
		return []string{describe(p.state.Capabilities(rest))}
	case "proposals":
		var out []string
		for _, pr := range p.state.Proposals("") {
			out = append(out, describeProposal(pr))
		}
		return out
	}
	if out, ok := p.ask(verb, rest); ok {
		return out
	}
	p.t.Fatalf("%s: what is %q?", p.title, line)
	return nil
}

// ask is what the gateway is asked and told by those in its own process.
func (p *play) ask(verb, rest string) (out []string, ok bool) {
	switch verb {
	case "lists":
		return p.list(rest), true
	case "tools":
		tools := p.state.Tools("")
		SortTools(tools)
		for _, t := range tools {
			line := t.Participant + " " + t.Name
			if !t.IsAccepted() {
				line += " is not accepted: " + t.Change
			}
			out = append(out, fmt.Sprintf("%s (#%d)", line, t.Notice))
		}
	case "collected":
		return p.admitSystem(p.state.Collected(rest, p.now)), true
	case "uncollected":
		word := strings.SplitN(rest, " ", 4)
		kind := parley.Kind{Type: parley.TypeRequest, Method: "tools/call", Subject: word[2]}
		pr, found := p.state.Uncollected(word[0], kind, strings.Trim(word[1], "-"), parley.DigestParams(jsontext.Value(word[3]), "_meta"), p.now)
		if found {
			out = append(out, describeProposal(pr))
		}
	case "contexts":
		out = p.describeContexts()
	case "open":
		for _, r := range p.state.OpenRequests(rest) {
			out = append(out, fmt.Sprintf("%s (#%d) %s of %s for %q", r.ID, r.Seq, r.Kind, r.From, r.Proposer))
		}
	default:
		return nil, false
	}
	return out, true
}

// list does what the gateway does with a list of tools, whose definitions are a
// word each.
func (p *play) list(rest string) (out []string) {
	participant, words, _ := strings.Cut(rest, " ")
	var listed []Listed
	for word := range strings.FieldsSeq(words) {
		name, text, _ := strings.Cut(word, "=")
		listed = append(listed, Listed{name, parley.DigestParams(jsontext.Value(strconv.Quote(text)))})
	}
	notice := func(event string, places []int) {
		if len(places) == 0 {
			return
		}
		var tools []string
		for _, i := range places {
			tools = append(tools, fmt.Sprintf(`{"name":%q,"digest":"%x","summary":"it is another"}`, listed[i].Name, listed[i].Digest))
		}
		payload := fmt.Sprintf(`{"event":%q,"participant":%q,"tools":[%s]}`, event, participant, strings.Join(tools, ","))
		p.admitSystem(p.state.ToolNotice(jsontext.Value(payload), p.now), nil)
		out = append(out, fmt.Sprintf("#%d %s: %d", p.state.Seq(), event, len(places)))
	}
	news := p.state.ToolNews(participant, listed)
	notice(NoticeToolsSeen, news.New)
	notice(NoticeToolsChanged, news.Changed)
	if news.Left > 0 {
		out = append(out, fmt.Sprint("left out: ", news.Left))
	}
	return out
}

func (p *play) setRules(rest string) []string {
	l := &p.rules.Limits
	for word := range strings.FieldsSeq(rest) {
		name, value, _ := strings.Cut(word, "=")
		n, _ := strconv.Atoi(value)
		switch name {
		case "lazy", "strict":
			p.rules.Lazy = name == "lazy"
			p.wasLazy = true
		case "mcpp":
			p.rules.Protocol = parley.ProtocolMCPP
		case "pins":
			p.rules.Pins = map[string]bool{value: true}
		case "rate":
			l.Rate = float64(n)
		case "burst":
			l.Burst = n
		case "participants":
			l.Participants = n
		case "connections":
			l.Connections = n
		case "open_proposals":
			l.OpenProposals = n
		case "context_metadata_bytes":
			l.ContextMetadataBytes = n
		case "context_rate":
			l.ContextRate = float64(n)
		case "context_depth":
			l.ContextDepth = n
		case "open_contexts":
			l.OpenContexts = n
		case "context_idle":
			l.ContextIdle = p.duration(value)
		case "type":
			p.setType(value)
		default:
			p.t.Fatalf("%s: no rule %q", p.title, word)
		}
	}
	return nil
}

// setType reads what holds for contexts of a type: NAME,limit:value,…
func (p *play) setType(text string) {
	words := strings.Split(text, ",")
	var typ ContextType
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, ":")
		n, _ := strconv.Atoi(value)
		switch name {
		case "rate":
			typ.Rate = float64(n)
		case "depth":
			typ.Depth = n
		case "open":
			typ.Open = n
		case "metadata":
			typ.MetadataBytes = n
		case "idle":
			typ.Idle = p.duration(value)
		default:
			p.t.Fatalf("%s: no limit %q of a type", p.title, word)
		}
	}
	if p.rules.ContextTypes == nil {
		p.rules.ContextTypes = make(map[string]ContextType)
	}
	p.rules.ContextTypes[words[0]] = typ
}

func (p *play) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		p.t.Fatal(err)
	}
	return d
}

// describeContexts tells what the state knows of contexts, those touched last
// at the end.
func (p *play) describeContexts() (out []string) {
	for _, c := range p.state.contexts.saved() {
		state := "open"
		if p.state.rules.Concluded(c.Type, c.Touched, p.now) {
			state = "concluded"
		}
		out = append(out, fmt.Sprintf("%s is %s: type %q, opened by %s, depth %d, path %s",
			c.ID, state, c.Type, c.Opener, p.state.contexts.depthOf(p.state.contexts.get(c.ID)), strings.Join(p.state.Lineage(c.ID).Path, " ")))
	}
	return out
}

func (p *play) send(from, frame string) []string {
	e, err := parley.Decode([]byte(frame), 0)
	if err != nil {
		return []string{"not an envelope: " + err.Error()}
	}
	asked := p.may(from, frame)
	v, err := p.state.Judge(from, e, p.now)
	asked.agrees(p.t, frame, err)
	if err != nil {
		return refusal(err)
	}
	return p.admit(v)
}

func refusal(err error) []string {
	e, ok := errors.AsType[*parley.Error](err)
	if !ok {
		return []string{"NOT A PARLEY ERROR: " + err.Error()}
	}
	out := []string{"refused " + e.Error()}
	if e.Hint != "" {
		out = append(out, "hint: "+e.Hint)
	}
	if e.AttemptedKind != "" {
		out = append(out, "attempted "+e.AttemptedKind+", may send "+describe(e.Capabilities))
	}
	if e.Seq != 0 {
		out = append(out, fmt.Sprintf("the first one is #%d", e.Seq))
	}
	if e.RetryAfterMS != 0 {
		out = append(out, fmt.Sprintf("retry after %d ms", e.RetryAfterMS))
	}
	return out
}

func (p *play) admit(v Verdict) []string {
	v.Envelope.Seq = p.state.Seq() + 1
	p.record = append(p.record, v)
	effects := p.state.Apply(v.Envelope, v.Kind)
	line := fmt.Sprintf("#%d %s", v.Envelope.Seq, v.Kind)
	if !slices.Equal(v.To, v.Envelope.To) {
		line += " also to " + strings.Join(v.To[len(v.Envelope.To):], " ")
	}
	if v.Envelope.From == parley.GatewayID {
		line += " " + string(v.Envelope.Payload)
	}
	out := []string{line}
	slices.SortFunc(effects, func(a, b Effect) int { return strings.Compare(a.Participant, b.Participant) })
	for _, effect := range effects {
		switch effect.Type {
		case Rewelcome:
			out = append(out, effect.Participant+" may now send "+describe(p.state.Capabilities(effect.Participant)))
		case Remove:
			out = append(out, effect.Participant+" is removed: "+effect.Reason)
		case Redact:
			out = append(out, effect.Redaction.ID+" is to be redacted")
		case Restart:
			out = append(out, effect.Participant+" is started again")
		}
	}
	return out
}

func (p *play) admitSystem(e *parley.Envelope, err error) []string {
	switch {
	case err != nil:
		return refusal(err)
	case e == nil:
		return nil
	}
	return p.admit(Verdict{Envelope: e, Kind: parley.SplitKind(e.Kind)})
}

func (p *play) connect(id string) []string { return p.admitSystem(p.state.Connect(id, p.now)) }

func (p *play) expire() (out []string) {
	for _, notice := range p.state.Expired(p.now) {
		out = append(out, p.admitSystem(notice, nil)...)
	}
	return out
}

// restart rebuilds the state and brings everybody back who was connected.
func (p *play) restart() (out []string) {
	old := p.state
	if p.restoring && !p.wasLazy {
		p.state = p.restored()
	} else {
		p.state = p.rebuilt()
	}
	for _, e := range p.state.Reconcile(p.now) {
		if answers := p.admitSystem(e, nil); e.Kind == parley.KindNotice {
			out = append(out, answers...)
		}
	}
	for id := range old.connections {
		p.admitSystem(p.state.Connect(id, p.now))
	}
	return append(out, p.expire()...)
}

func (p *play) rebuilt() *State {
	s := New(p.rules)
	for _, v := range p.record {
		wire, _ := v.Envelope.MarshalJSON()
		e, err := parley.Decode(wire, 0)
		if err != nil {
			p.t.Fatal(err)
		}
		s.Apply(e, v.Kind)
	}
	return s
}

// restored is the state made of its snapshot.
func (p *play) restored() *State {
	data, err := p.state.Copy().Snapshot().JSON()
	if err != nil {
		p.t.Fatal(err)
	}
	n, err := ReadSnapshot(data)
	if err != nil {
		p.t.Fatal(err)
	}
	return Restore(p.rules, n)
}

// finish checks that the record alone leads to the state that the case ended
// with.
func (p *play) finish(t *testing.T) {
	if p == nil || p.state == nil {
		return
	}
	if got, want := dump(p.rebuilt()), dump(p.state); got != want {
		t.Errorf("%s: rebuilt from the record\n got %s\nwant %s", p.title, got, want)
	}
	if got, want := dump(p.restored()), dump(p.state); got != want && !p.wasLazy {
		t.Errorf("%s: restored from a snapshot\n got %s\nwant %s", p.title, got, want)
	}
}

func dump(s *State) string {
	var b strings.Builder
	fmt.Fprintln(&b, "seq", s.seq)
	for _, m := range s.Participants() {
		fmt.Fprintln(&b, m.ID, describe(m.Capabilities), s.present[m.ID])
	}
	for _, pr := range s.Proposals("") {
		fmt.Fprintln(&b, describeProposal(pr), pr.Expires, s.proposals.get(pr.ID).digest)
	}
	var open []string
	for id, r := range s.requests.open {
		open = append(open, fmt.Sprint(id, *r))
	}
	slices.Sort(open)
	fmt.Fprintln(&b, open)
	n, err := s.Copy().Snapshot().JSON()
	fmt.Fprintln(&b, string(n), err)
	return b.String()
}

func describe(set parley.Capabilities) string {
	var list []string
	for _, c := range set {
		list = append(list, c.String())
	}
	if list == nil {
		return "nothing"
	}
	return strings.Join(list, ", ")
}

func describeProposal(pr Proposal) string {
	line := fmt.Sprintf("%s of %s is %s", pr.ID, pr.From, pr.State)
	if pr.State != Open {
		line += " by " + pr.Closed.By + " with " + pr.Closed.ID
	}
	if pr.Closed.Reason != "" {
		line += ": " + pr.Closed.Reason
	}
	if pr.Unsure {
		line += ", perhaps"
	}
	return line
}
