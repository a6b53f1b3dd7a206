package tui

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/tools/txtar"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tui/store"
)

var update = flag.Bool("update", false, "write the frames anew")

// Each archive in testdata/frames is a play in a room that is made up: its script says
// what happens and which keys are pressed, and "shot NAME" holds the screen against the
// section of that name, without colours. What was sent is in the section "sent".
func TestFrames(t *testing.T) {
	paths, err := filepath.Glob("testdata/frames/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no plays", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			want, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, want)
			if *update {
				if err := os.WriteFile(path, txtar.Format(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			compare(t, want, got)
		})
	}
}

func compare(t *testing.T, want, got *txtar.Archive) {
	t.Helper()
	if len(want.Files) != len(got.Files) {
		t.Errorf("%d sections, want %d; go test -update writes them", len(got.Files), len(want.Files))
	}
	for i, f := range got.Files {
		if i < len(want.Files) && (f.Name != want.Files[i].Name || !bytes.Equal(f.Data, want.Files[i].Data)) {
			t.Errorf("%s is\n%s\nwant %s\n%s", f.Name, f.Data, want.Files[i].Name, want.Files[i].Data)
		}
	}
}

func play(t *testing.T, a *txtar.Archive) *txtar.Archive {
	p := newPlayed(t, 80, 24)
	out := &txtar.Archive{Comment: a.Comment}
	for line := range strings.Lines(string(a.Comment)) {
		line = strings.TrimRight(line, "\n")
		verb, rest, _ := strings.Cut(line, " ")
		if name, ok := strings.CutPrefix(line, "shot "); ok {
			out.Files = append(out.Files, txtar.File{Name: name, Data: []byte(p.frame())})
		} else if verb != "" && verb[0] != '#' {
			p.act(verb, rest)
		}
	}
	if len(p.room.sent) > 0 {
		out.Files = append(out.Files, txtar.File{Name: "sent", Data: []byte(strings.Join(p.room.sent, "\n") + "\n")})
	}
	return out
}

// played is a console in a room that is made up.
type played struct {
	t    *testing.T
	room *fakeRoom
	m    *Model
	now  time.Time // a second passes with each key
	rung int       // how often the bell rang
}

// The time of the room: everything happens at noon, a second apart.
var noon = time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)

func newPlayed(t *testing.T, width, height int) *played {
	room := &fakeRoom{people: []string{"agent", "files", "you"}, envelopes: map[string]*parley.Envelope{}, standing: map[string]Standing{},
		may: parley.Capabilities{parley.MustCapability("mcp/*"), parley.MustCapability("!mcp/request:tools/call:forbidden")}}
	p := &played{t: t, room: room, now: noon.Add(time.Minute)}
	p.m = New(t.Context(), room, Options{Zone: time.UTC, Now: func() time.Time { return p.now }})
	p.do(p.m.Init())
	p.update(tea.WindowSizeMsg{Width: width, Height: height})
	return p
}

func (p *played) act(verb, rest string) {
	p.t.Helper()
	switch verb {
	case "size":
		var w, h int
		fmt.Sscanf(rest, "%dx%d", &w, &h)
		p.update(tea.WindowSizeMsg{Width: w, Height: h})
	case "happens":
		p.happens(rest)
	case "past": // what is on record, and was not sent
		p.room.add(p.decode(rest))
	case "waits": // a proposal from before, which the gateway lists
		e := p.room.add(p.decode(rest))
		p.room.waiting = append(p.room.waiting, &store.Waiting{ID: e.ID, Seq: e.Seq, Kind: e.Kind, Method: parley.SplitKind(e.Kind).Method, From: e.From, To: e.To, Title: parley.SplitKind(e.Kind).Subject})
		p.do(p.m.seed())
	case "edited":
		p.room.edited = true
	case "tool":
		words := strings.SplitN(rest, " ", 3)
		seq, _ := strconv.ParseUint(words[1], 10, 64)
		who, name, _ := strings.Cut(words[0], "/")
		p.room.tools = slices.DeleteFunc(p.room.tools, func(l Listed) bool { return l.Participant == who && l.Name == name })
		p.room.tools = append(p.room.tools, Listed{Participant: who, Name: name, Notice: seq, Changed: strings.Join(words[2:], " ")})
	case "may":
		p.room.may = nil
		for pattern := range strings.FieldsSeq(rest) {
			p.room.may = append(p.room.may, parley.MustCapability(pattern))
		}
	case "key":
		for name := range strings.FieldsSeq(rest) {
			p.key(name)
		}
	case "type":
		for _, r := range rest {
			p.update(tea.KeyPressMsg{Text: string(r), Code: r})
		}
	case "paste":
		text, err := strconv.Unquote(rest)
		if err != nil {
			p.t.Fatal(err)
		}
		p.update(tea.PasteMsg{Content: text})
	case "refuse":
		code, message, _ := strings.Cut(rest, " ")
		p.room.refusal = parley.Errorf(parley.Code(code), "%s", message)
	case "wheel":
		p.update(tea.MouseWheelMsg{Button: map[string]tea.MouseButton{"up": tea.MouseWheelUp, "down": tea.MouseWheelDown}[rest]})
	case "click":
		var x, y int
		fmt.Sscanf(rest, "%d,%d", &x, &y)
		p.update(tea.MouseClickMsg{Button: tea.MouseLeft, X: x, Y: y})
	case "lost":
		p.update(Link{Phase: client.Waiting, Attempt: 2})
	case "back":
		p.update(Link{Phase: client.Connected})
	case "gap":
		p.update(Arrived{{Gap: &client.Gap{After: parley.Position{Epoch: "e", Seq: p.room.seq}, Next: parley.Position{Epoch: rest, Seq: 90}}}})
	default:
		p.t.Fatalf("a play has no %q", verb)
	}
}

func (p *played) decode(text string) *parley.Envelope {
	p.t.Helper()
	e, err := parley.Decode([]byte(text), 100)
	if err != nil {
		p.t.Fatal(err)
	}
	return e
}

// happens lets an envelope arrive, in the order of the room.
func (p *played) happens(text string) {
	p.t.Helper()
	p.update(Arrived{{Envelope: p.room.add(p.decode(text))}})
}

var keyCodes = map[string]rune{
	"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
	"home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "space": tea.KeySpace, "backspace": tea.KeyBackspace, "f1": tea.KeyF1,
}

func (p *played) key(name string) {
	if rest, ok := strings.CutPrefix(name, "quick+"); ok {
		name = rest
	} else {
		p.now = p.now.Add(time.Second)
	}
	var k tea.KeyPressMsg
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
		k.Mod, name = tea.ModCtrl, rest
	}
	if rest, ok := strings.CutPrefix(name, "shift+"); ok {
		k.Mod, name = k.Mod|tea.ModShift, rest
	}
	if code, ok := keyCodes[name]; ok {
		k.Code = code
	} else {
		k.Code = []rune(name)[0]
	}
	if k.Mod == 0 && len(name) == 1 {
		k.Text = name
	}
	p.update(k)
}

func (p *played) update(msg tea.Msg) {
	_, cmd := p.m.Update(msg)
	p.m.View()
	p.do(cmd)
}

// do does at once what Bubble Tea would do aside.
func (p *played) do(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			p.do(c)
		}
	case done:
		p.update(msg)
	case tea.RawMsg:
		p.rung++
	}
	p.echo()
}

// echo lets what was sent arrive, as a gateway does.
func (p *played) echo() {
	list := p.room.echoes
	p.room.echoes = nil
	for _, e := range list {
		p.update(Arrived{{Envelope: p.room.add(e)}})
	}
}

var styled = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// frame is the screen as text, which must fit, and hold nothing to be obeyed.
func (p *played) frame() string {
	p.t.Helper()
	content := p.m.View().Content
	lines := strings.Split(content, "\n")
	if len(lines) != p.m.height {
		p.t.Errorf("the screen has %d lines, and takes %d", p.m.height, len(lines))
	}
	var b strings.Builder
	for _, line := range lines {
		bare := styled.ReplaceAllString(line, "")
		if strings.ContainsFunc(bare, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x202e }) {
			p.t.Errorf("a terminal might obey %q", bare)
		}
		if w := ansi.StringWidth(bare); w > p.m.width {
			p.t.Errorf("a line is %d columns wide: %q", w, bare)
		}
		b.WriteString(strings.TrimRight(bare, " ") + "\n")
	}
	return b.String()
}

// fakeRoom keeps what happened, and what was sent.
type fakeRoom struct {
	people    []string
	upTo      uint64
	seq       uint64
	envelopes map[string]*parley.Envelope
	standing  map[string]Standing
	waiting   []*store.Waiting
	tools     []Listed
	sent      []string
	echoes    []*parley.Envelope
	refusal   error
	may       parley.Capabilities
	asked     []*parley.Envelope
	edited    bool // the record
}

func (r *fakeRoom) add(e *parley.Envelope) *parley.Envelope {
	r.seq++
	e.Seq, e.TS = r.seq, noon.Add(time.Duration(r.seq)*time.Second)
	r.envelopes[e.ID] = e
	if parley.SplitKind(e.Kind).Type == parley.TypeProposal {
		r.standing[e.ID] = Standing{State: "open", Opened: e.TS, Expires: e.TS.Add(24 * time.Hour)}
	}
	return e
}

func (r *fakeRoom) ID() string                 { return "you" }
func (r *fakeRoom) Space() string              { return "demo" }
func (r *fakeRoom) People() ([]string, uint64) { return r.people, r.upTo }

func (r *fakeRoom) Known(context.Context) ([]string, error) {
	return slices.Concat(r.people, []string{"you-1"}), nil
}

func (r *fakeRoom) Capabilities() parley.Capabilities { return r.may }

// Send records what was sent, without what differs each time.
func (r *fakeRoom) Send(_ context.Context, e *parley.Envelope) (client.Receipt, error) {
	if r.refusal != nil {
		err := r.refusal
		r.refusal = nil
		return client.Receipt{}, err
	}
	said := fmt.Sprintf("%s to=%v on=%v amends=%v %s", e.Kind, e.To, e.Correlation.IDs, e.Amends, e.Payload)
	r.sent = append(r.sent, strings.ReplaceAll(said, e.ID, "ID"))
	echo := *e
	echo.ID, echo.From = fmt.Sprintf("sent-%d", len(r.sent)), "you"
	r.echoes = append(r.echoes, &echo)
	return client.Receipt{ID: e.ID, Seq: r.seq}, nil
}

func (r *fakeRoom) Answer(_ context.Context, request *parley.Envelope, result jsontext.Value, failure *client.RPCError) error {
	if failure != nil {
		result = jsontext.Value(fmt.Sprintf("error %d %s", failure.Code, failure.Message))
	}
	r.sent = append(r.sent, fmt.Sprintf("answer to %s %s", request.ID, result))
	return nil
}

func (r *fakeRoom) Envelope(_ context.Context, id string) (*parley.Envelope, error) {
	if e := r.envelopes[id]; e != nil {
		return e, nil
	}
	return nil, parley.Errorf(parley.NotFound, "there is no envelope %s", id)
}

func (r *fakeRoom) Chain(ctx context.Context, id string) (chain client.Chain, err error) {
	for _, e := range r.inOrder() {
		if e.ID == id || slices.Contains(e.Correlation.IDs, id) {
			chain.Envelopes = append(chain.Envelopes, e)
		}
	}
	return chain, nil
}

func (r *fakeRoom) inOrder() []*parley.Envelope {
	return slices.SortedFunc(maps.Values(r.envelopes), func(a, b *parley.Envelope) int { return int(a.Seq) - int(b.Seq) })
}

func (r *fakeRoom) Verify(context.Context) (string, error) {
	if r.edited {
		return "", parley.Errorf(parley.Internal, "record 2 is not the one that was chained")
	}
	return fmt.Sprintf("The chain of demo holds: %d envelopes.", len(r.envelopes)), nil
}

func (r *fakeRoom) Search(_ context.Context, q *client.Query) ([]*parley.Envelope, error) {
	var list []*parley.Envelope
	for _, e := range r.inOrder() {
		in := (q.Context == "" || e.Context != nil && e.Context.ID == q.Context) && (q.Kind == "" || e.Kind == q.Kind)
		if in && e.Seq > q.After && (q.Before == 0 || e.Seq < q.Before) && strings.Contains(string(e.Payload), q.Text) {
			list = append(list, e)
		}
	}
	if q.Descending {
		slices.Reverse(list)
	}
	if q.Limit > 0 && len(list) > q.Limit {
		list = list[:q.Limit]
	}
	return list, nil
}

// digest is what a notice says that a tool's definition has.
func (r *fakeRoom) digest(seq uint64, name string) string {
	e, err := r.Notice(context.Background(), seq)
	if err != nil {
		return ""
	}
	for v := range parley.Elements(parley.Member(e.Payload, "tools")) {
		if is, _ := parley.MemberString(v, "name"); is == name {
			digest, _ := parley.MemberString(v, "digest")
			return digest
		}
	}
	return ""
}

func (r *fakeRoom) Waiting(context.Context) ([]*store.Waiting, error) { return r.waiting, nil }

func (r *fakeRoom) Proposal(_ context.Context, id string) (Standing, error) {
	return r.standing[id], nil
}

func (r *fakeRoom) Tools(_ context.Context, participant string) ([]Listed, error) {
	list := slices.Clone(r.tools)
	for i := range list {
		list[i].Digest = r.digest(list[i].Notice, list[i].Name)
	}
	return list, nil
}

func (r *fakeRoom) Notice(_ context.Context, seq uint64) (*parley.Envelope, error) {
	for _, e := range r.inOrder() {
		if e.Seq == seq {
			return e, nil
		}
	}
	return nil, parley.Errorf(parley.NotFound, "there is no envelope #%d", seq)
}

func (r *fakeRoom) Unanswered(context.Context) ([]*parley.Envelope, error) { return r.asked, nil }

func (r *fakeRoom) Cause(context.Context, *parley.Envelope) string { return "" }
