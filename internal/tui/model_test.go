package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tui/store"
)

func (p *played) says(i int) Arrival {
	return Arrival{Envelope: p.room.add(&parley.Envelope{ID: fmt.Sprint("m", i), From: "agent", Kind: "chat", Payload: jsontext.Value(fmt.Sprintf(`{"text":"message %d"}`, i))})}
}

// Under a flood who reads what is older stays there, until it is no longer kept.
func TestFlood(t *testing.T) {
	p := newPlayed(t, 80, 24)
	p.m.store = store.New(500)
	p.m.stream = newStream(p.m.store)
	p.m.stream.zone = noon.Location()
	i := 0
	flood := func(n int) {
		for range n / 100 {
			var batch Arrived
			for range 100 {
				batch = append(batch, p.says(i))
				i++
			}
			p.update(batch)
		}
	}
	flood(400)
	p.key("up")
	p.key("pgup")
	before := p.frame()
	flood(100)
	after := p.frame()
	if !strings.Contains(after, "100 new ↓") || strings.Join(strings.Split(after, "\n")[1:], "\n") != strings.Join(strings.Split(before, "\n")[1:], "\n") {
		t.Errorf("the screen was\n%s\nand is\n%s", before, after)
	}
	flood(5000)
	if got := p.frame(); !strings.Contains(got, "new ↓") || len(p.m.store.Rows()) > 500 || len(p.m.stream.view) > 500 {
		t.Errorf("%d rows, %d of them in view:\n%s", len(p.m.store.Rows()), len(p.m.stream.view), got)
	}
	p.key("G")
	if got := p.frame(); !strings.Contains(got, fmt.Sprint("message ", i-1)) || strings.Contains(got, "new ↓") {
		t.Errorf("the newest are\n%s", got)
	}
}

// No size of the screen, and no key in any place, breaks anything.
func TestEveryKeyEverywhere(t *testing.T) {
	keys := []string{"a", "r", "m", "n", "e", "i", "/", "f", "z", "o", "t", "p", "?", "M", "esc", "enter", "tab", "up", "down", "pgup", "pgdown", "home", "end", "space", "backspace", "w", "+", "ctrl+s", "ctrl+d", "ctrl+r", "f1", "x", "q"}
	for _, size := range [][2]int{{40, 12}, {3, 2}} {
		for _, first := range keys {
			for _, second := range []string{"a", "m", "e", "/", "esc", "x", "b"} {
				p := newPlayed(t, size[0], size[1])
				p.happens(`{"id":"aaaaaaaa-1","from":"agent","kind":"mcp/proposal:tools/call:x","context":"c","payload":{"method":"tools/call","params":{"name":"x","arguments":{"a":1}}}}`)
				p.happens(`{"id":"e1","from":"agent","to":["you"],"kind":"mcp/request:elicitation/create","payload":{"id":"e1","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"t":{"type":"string"}}}}}}`)
				p.key(first)
				p.key(second)
				for _, name := range []string{"R", "enter", "enter"} {
					if p.key(name); !p.m.leaving {
						p.frame()
					}
				}
				if t.Failed() {
					t.Fatal(size, first, second)
				}
			}
		}
	}
}

// What the room brings is handed over whole and in order, many at once.
func TestPump(t *testing.T) {
	const n = 10_000
	happens := func(yield func(*parley.Envelope, error) bool) {
		for i := range n {
			if !yield(&parley.Envelope{Seq: uint64(i + 1)}, nil) {
				return
			}
		}
		if yield(nil, &client.Gap{}) {
			yield(nil, client.ErrRemoved)
		}
	}
	var got []uint64
	gaps, calls := 0, 0
	var end error
	pump(t.Context(), happens, func(msg any) {
		switch msg := msg.(type) {
		case Arrived:
			calls++
			for _, a := range msg {
				if a.Gap != nil {
					gaps++
					continue
				}
				got = append(got, a.Envelope.Seq)
			}
		case Ended:
			end = msg.Err
		}
	})
	if len(got) != n || !slices.IsSorted(got) || gaps != 1 || !errors.Is(end, client.ErrRemoved) {
		t.Errorf("%d came, %d gaps, and %v", len(got), gaps, end)
	}
	if calls > n/100 {
		t.Errorf("it took %d calls", calls)
	}
}

// Whoever leaves ends the pump, also where nothing happens.
func TestPumpEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan any, 1)
	go pump(ctx, func(yield func(*parley.Envelope, error) bool) { <-ctx.Done() }, func(msg any) { ended <- msg })
	cancel()
	if _, ok := (<-ended).(Ended); !ok {
		t.Error("something came")
	}
}

// watched is a terminal that tells when it is switched to the console's screen.
type watched struct {
	text bytes.Buffer
	mark string
	then func()
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.text.Write(p)
	if w.then != nil && strings.Contains(w.text.String(), w.mark) {
		w.then()
		w.then = nil
	}
	return n, err
}

type panics struct{ *fakeRoom }

func (panics) People() ([]string, uint64) { panic("no people") }

// A panic gives the terminal back.
func TestPanic(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	defer func(f *os.File) { os.Stderr = f }(os.Stderr)
	os.Stderr = null // where the stack goes
	room := newPlayed(t, 80, 24).room
	m := New(t.Context(), room, Options{})
	m.room = panics{room}
	in, keys := io.Pipe()
	defer keys.Close()
	links := make(chan Link, 1)
	out := &watched{mark: "\x1b[?1049h", then: func() { links <- Link{Phase: client.Connected} }}
	nothing := func(ctx context.Context) iter.Seq2[*parley.Envelope, error] {
		return func(func(*parley.Envelope, error) bool) { <-ctx.Done() }
	}
	if err := Run(t.Context(), m, in, out, nothing, links); !errors.Is(err, &parley.Error{Code: parley.Internal}) {
		t.Errorf("it ends with %v", err)
	}
	if !strings.Contains(out.text.String(), "\x1b[?1049l") {
		t.Errorf("what is written is %q", out.text.String())
	}
}

func TestLayout(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1.50,"b":[],"c":{},"d":[1,{"e":"x,{\"y"}]}`: "{\n  \"a\": 1.50,\n  \"b\": [],\n  \"c\": {},\n  \"d\": [\n    1,\n    {\n      \"e\": \"x,{\\\"y\"\n    }\n  ]\n}",
		`12345678901234567890.10`:                         `12345678901234567890.10`,
		`[ ]`:                                             `[]`,
		` "a b" `:                                         `"a b"`,
	} {
		if got := layout(jsontext.Value(in)); got != want {
			t.Errorf("%s becomes\n%s\nwant\n%s", in, got, want)
		}
	}
	deep := layout(jsontext.Value(strings.Repeat("[", 1000) + strings.Repeat("]", 1000)))
	if len(deep) > 100_000 {
		t.Errorf("a thousand levels take %d bytes", len(deep))
	}
}

// What is edited means the same as what was proposed.
func TestEditable(t *testing.T) {
	in := jsontext.Value("{\"a\":\"\u202e\u200b\U000e0041 ü 漢 \\u0000\",\"n\":1e400}")
	text := editable(in)
	if strings.ContainsAny(text, "\u202e\u200b\U000e0041") {
		t.Errorf("the editor is given %q", text)
	}
	a, b := in.Clone(), jsontext.Value(text)
	if err := a.Canonicalize(jsontext.CanonicalizeRawFloats(false)); err != nil {
		t.Fatal(err)
	}
	if err := b.Canonicalize(jsontext.CanonicalizeRawFloats(false)); err != nil || !bytes.Equal(a, b) {
		t.Errorf("%s became %s (%v)", a, b, err)
	}
}

func TestDifference(t *testing.T) {
	var b strings.Builder
	for _, c := range difference("a\nb\nc\nd\ne", "a\nx\nc\ne\nf") {
		b.WriteString(string(c.sign) + c.line + " ")
	}
	if got := b.String(); got != " a -b +x  c -d  e +f " {
		t.Errorf("the difference is %q", got)
	}
	huge := strings.Repeat("x\n", 5000)
	if n := len(difference(huge+"a", "b\n"+huge)); n != 10_003 {
		t.Errorf("a huge difference has %d lines", n)
	}
}

// What is put into params leaves the rest as it was, byte for byte.
func TestWithMember(t *testing.T) {
	for in, want := range map[string]string{
		`{"name" : "x", "arguments":{"a":1} , "z":1.0}`: `{"name" : "x", "arguments":NEW , "z":1.0}`,
		`{"name":"x"}`: `{"name":"x","arguments":NEW}`,
		`{}`:           `{"arguments":NEW}`,
	} {
		if got := string(withMember(jsontext.Value(in), "arguments", jsontext.Value("NEW"))); got != want {
			t.Errorf("%s becomes %s, want %s", in, got, want)
		}
	}
}

// What is pasted loses what nobody would see.
func TestPaste(t *testing.T) {
	p := newPlayed(t, 80, 24)
	p.key("i")
	p.update(tea.PasteMsg{Content: "two\r\nlines\x1b[31m \u202ehidden\u200b 👩‍💻"})
	if got := p.m.composer.Value(); got != "two\nlines[31m hidden 👩💻" && got != "two\nlines[31m hidden 👩‍💻" {
		t.Errorf("the line is %q", got)
	}
	p.frame()
	p.key("enter")
	if len(p.room.sent) != 1 {
		t.Errorf("sent was %q", p.room.sent)
	}
}

// Whatever participants write, wherever it is shown, on a screen of any size, the
// frame fits, and holds nothing that a terminal obeys.
func TestAnythingFits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"\x1b[31m", "\x1b]0;x\x07", "\u009b2J", "\u202e", "\u2066", "\u200b", "\u0301", "漢", "👩‍💻", "\t", "\n", "\r", "a", "word ", "\x00", "|", "*", "`", "[x](http://y)", "# ", "\ufeff", "\u3000", "ﷺ", "\U000e0041"}
	text := func() string {
		var b strings.Builder
		for range random.IntN(60) {
			b.WriteString(alphabet[random.IntN(len(alphabet))])
		}
		return quote(b.String())
	}
	shapes := []func() string{
		func() string {
			return `"kind":"chat","payload":{"text":` + text() + `,"format":"markdown"}`
		},
		func() string { return `"kind":"chat","payload":{"text":` + text() + `}` },
		func() string {
			return `"kind":"reflection","context":{"id":` + text() + `,"type":` + text() + `},"payload":{"thought":` + text() + `}`
		},
		func() string {
			name := text()
			return `"to":["files"],"kind":"mcp/proposal:tools/call","payload":{"method":"tools/call","params":{"name":` + name + `,"arguments":{` + text() + `:` + text() + `}},"reason":` + text() + `}`
		},
		func() string {
			return `"kind":"system/notice","payload":{"event":` + text() + `,"participant":` + text() + `,"tools":[{"name":` + text() + `}]}`
		},
		func() string {
			return `"to":["you"],"kind":"mcp/request:elicitation/create","payload":{"id":"x","method":"elicitation/create","params":{"message":` + text() + `,"requestedSchema":{"type":"object","properties":{"a":{"type":"string","title":` + text() + `}}}}}`
		},
		func() string {
			return `"kind":"capability/grant","payload":{"recipient":` + text() + `,"capabilities":[` + text() + `],"reason":` + text() + `}`
		},
	}
	keys := []string{"up", "enter", "esc", "a", "m", "t", "p", "q", "e", "n", "?", "z", "f", "/", "tab", "end", "r", "x", "R"}
	for i := range 40 {
		p := newPlayed(t, 1+random.IntN(130), 1+random.IntN(40))
		for j := range 12 {
			p.happens(fmt.Sprintf(`{"id":"id-%d-%d","from":"agent",%s}`, i, j, shapes[random.IntN(len(shapes))]()))
			p.key(keys[random.IntN(len(keys))])
			p.frame()
			if t.Failed() {
				t.Fatal(p.m.width, p.m.height)
			}
		}
	}
}

// Talk does not push a decision out of what belongs to a proposal, and what was left
// out is told of.
func TestChainIsShownWhole(t *testing.T) {
	p := newPlayed(t, 80, 24)
	var chain client.Chain
	for i := range 200 {
		chain.Envelopes = append(chain.Envelopes, p.decode(fmt.Sprintf(`{"id":"c%d","from":"agent","kind":"chat","correlation_id":"p","payload":{"text":"talk"}}`, i)))
	}
	last := p.decode(`{"id":"f","from":"you","to":["files"],"kind":"mcp/request:tools/call:write_file","correlation_id":"p","payload":{"method":"tools/call","params":{"name":"write_file"}}}`)
	chain.Envelopes = append(chain.Envelopes, last)
	for _, cut := range []bool{false, true} {
		chain.Truncated = cut
		text := ansi.Strip(strings.Join(p.m.envelopeLines(last, chain, 80), "\n"))
		if strings.Count(text, "talk") != 200 || !strings.Contains(text, "› #") || strings.Contains(text, "There is more") != cut {
			t.Errorf("cut %v: %s", cut, text)
		}
	}
}
