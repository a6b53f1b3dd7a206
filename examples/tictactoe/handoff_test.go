package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/tool"
	"github.com/parleyhq/parley/tool/sampling"
)

// peer has the players answer without anything in between.
type peer struct{ *players }

func (p peer) Can(tool.Ability) bool { return true }

func (p peer) Ask(_ context.Context, q tool.Question) (jsontext.Value, error) {
	if q.Method == "elicitation/create" {
		return p.elicit(q.Params)
	}
	return p.sample(q.Params)
}

func (p peer) Notify(context.Context, string, jsontext.Value) error { return nil }

// serve is a server with the game as h plays it.
func serve(t *testing.T, h tool.Handoff[input, opening, course, result]) *tool.Server {
	t.Helper()
	s, err := tool.NewServer(tool.Options{Name: "tictactoe", Tier: tool.Community, Dir: t.TempDir(), Getenv: func(string) string { return "" }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	tool.AddHandoff(s, declaration, h)
	return s
}

// call plays a game, and returns the answer's envelope.
func call(t *testing.T, s *tool.Server, p tool.Peer, arguments map[string]any) jsontext.Value {
	t.Helper()
	raw, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Do(t.Context(), tool.Request{Tool: declaration.Name, Arguments: raw, Peer: p})
	if err != nil {
		t.Fatal(err)
	}
	return parley.Member(res, "structuredContent")
}

// onlyWeTake are games with answers that a client of MCP refuses by itself.
var onlyWeTake = map[string]scripted{
	"the human's client sends what is no move": {
		first: human,
		model: "2\n5",
		human: `{"cell":"one"}` + "\n" + `{"cell":10}` + "\n1\n{}\n4\n7",
		want: result{
			Outcome: won, Winner: human, First: human, Moves: cells(human, 1, 2, 4, 5, 7),
			Board:   "X | O | 3\n--+---+--\nX | O | 6\n--+---+--\nX | 8 | 9",
			Summary: "The human (X) has won after 5 moves.",
		},
		asked: 2, forms: 6,
	},
	"the human's client sends no action": {
		first: human,
		human: "maybe\nmaybe\nmaybe",
		want: result{
			Outcome: forfeited, Winner: model, First: human, Moves: []move{},
			Board:   "1 | 2 | 3\n--+---+--\n4 | 5 | 6\n--+---+--\n7 | 8 | 9",
			Summary: "After 0 moves, the human (X) gave no legal move, and forfeits the game.",
		},
		forms: 3,
	},
}

// Every game ends as its rules say, and whatever has been said up to then is a
// history that a strict model takes.
func TestGames(t *testing.T) {
	for _, games := range []map[string]scripted{everyClientPlays, onlyWeTake} {
		for name, g := range games {
			t.Run(name, func(t *testing.T) {
				table := newTable(3)
				h := table.handoff()
				h.Client = func(ctx context.Context, c *tool.Call, o opening) (course, error) {
					end, err := table.play(ctx, c, o)
					next := sampling.Append(c.Messages(), sampling.UserText("And now?"))
					if err := (sampling.Request{Messages: next}).Check(); err != nil {
						t.Errorf("at the end the history is not well-formed: %v", err)
					}
					return end, err
				}
				p := g.players()
				g.check(t, p, call(t, serve(t, h), peer{p}, g.arguments()))
			})
		}
	}
}

// One history holds what both have said, in its order: the model sees the human's
// moves with their boards, and what was wrong with its own.
func TestHistory(t *testing.T) {
	g := everyClientPlays["the model wins"]
	p := g.players()
	g.check(t, p, call(t, serve(t, newTable(3).handoff()), peer{p}, g.arguments()))
	var told strings.Builder
	for _, m := range p.requests[len(p.requests)-1].Messages {
		line, err := m.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&told, "%s\n", line)
	}
	board := func(b string) string { return strings.NewReplacer("/", `\n--+---+--\n`, " ", " | ").Replace(b) }
	use := func(id, cell string) string {
		return `{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"__schema__","input":{"cell":` + cell + `,"why":"the script says so"}}]}` + "\n" +
			`{"role":"user","content":[{"type":"tool_result","toolUseId":"` + id + `","content":[{"type":"text","text":"ok"}]}]}` + "\n"
	}
	says := func(text string) string {
		return `{"role":"user","content":{"type":"text","text":"` + text + `"}}` + "\n"
	}
	form := func(id, arguments, cell string) string {
		return `{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"your_move","input":` + arguments + `}]}` + "\n" +
			`{"role":"user","content":[{"type":"tool_result","toolUseId":"` + id + `","content":[{"type":"text","text":"{\"cell\":` + cell + `}"}]}]}` + "\n"
	}
	const id = "form-"
	want := says(`It is your turn.\n\n`+board("1 2 3/4 5 6/7 8 9")+`\n\nFree cells: 1, 2, 3, 4, 5, 6, 7, 8, 9.`) +
		use("call_0", "5") +
		form(id, `{"board":"`+board("1 2 3/4 X 6/7 8 9")+`"}`, "5") +
		form(id, `{"board":"`+board("1 2 3/4 X 6/7 8 9")+`","trouble":"cell 5 is taken: X is there"}`, "1") +
		says(`It is your turn.\n\n`+board("O 2 3/4 X 6/7 8 9")+`\n\nFree cells: 2, 3, 4, 6, 7, 8, 9.`) +
		use("call_0-2", "1") +
		says(`That was not played: cell 1 is taken: O is there. Choose another cell.\n\n`+board("O 2 3/4 X 6/7 8 9")+`\n\nFree cells: 2, 3, 4, 6, 7, 8, 9.`) +
		use("call_0-3", "3") +
		form(id, `{"board":"`+board("O 2 X/4 X 6/7 8 9")+`"}`, "2") +
		says(`It is your turn.\n\n`+board("O O X/4 X 6/7 8 9")+`\n\nFree cells: 4, 6, 7, 8, 9.`)
	if got := madeUp.ReplaceAllString(told.String(), id); got != want {
		t.Errorf("the model was told\n%s\nwant\n%s", got, want)
	}
	if got := p.forms[1]; !strings.HasPrefix(got, "You are O, the model is X. That was not played: cell 5 is taken: X is there. Choose another cell.\n") {
		t.Errorf("the human was told %q", got)
	}
}

// Who begins is drawn where the caller does not say, once.
func TestDraw(t *testing.T) {
	for _, s := range []side{model, human} {
		draws := 0
		h := table{tries: 1, draw: func() side { draws++; return s }}.handoff()
		p := &players{model: "no\nno\nno", human: "decline"}
		envelope := call(t, serve(t, h), peer{p}, nil)
		first, _ := parley.MemberString(parley.Member(envelope, "data"), "first")
		if first != string(s) || draws != 1 {
			t.Errorf("%s moves first after %d draws, want %s", first, draws, s)
		}
	}
	drawn := map[side]int{}
	for range 1000 {
		drawn[toss()]++
	}
	if drawn[model] < 350 || drawn[human] < 350 || len(drawn) != 2 {
		t.Errorf("a thousand tosses came to %v", drawn)
	}
}

// refusing is a peer whose model nobody may ask.
type refusing struct {
	peer
	err error
}

func (r refusing) Ask(ctx context.Context, q tool.Question) (jsontext.Value, error) {
	if q.Method == "sampling/createMessage" {
		return nil, r.err
	}
	return r.peer.Ask(ctx, q)
}

// Where the model cannot be asked, the game is over, and the answer says why.
func TestNoModel(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string // in the envelope
	}{
		"refused":     {&tool.PeerError{Code: -1, Message: "not now"}, `"outcome":"broken_off"`},
		"no budget":   {&tool.PeerError{Code: -32000, Message: "enough", Data: jsontext.Value(`{"code":"resource_exhausted"}`)}, `"error_code":"resource_exhausted"`},
		"out of work": {&tool.PeerError{Code: -32603, Message: "broken"}, `"error_code":"dependency_unavailable"`},
	} {
		t.Run(name, func(t *testing.T) {
			p := refusing{peer{&players{human: "1"}}, c.err}
			envelope := call(t, serve(t, newTable(3).handoff()), p, map[string]any{"first": "human"})
			if !strings.Contains(string(envelope), c.want) {
				t.Errorf("answered %s, want %s", envelope, c.want)
			}
		})
	}
}

// A caller who cannot be asked gets an error before the game begins.
func TestNobodyPlays(t *testing.T) {
	h := newTable(3).handoff()
	h.Before = func(context.Context, *tool.Call, input) (opening, error) {
		return opening{}, errors.New("the game began")
	}
	envelope := call(t, serve(t, h), nil, nil)
	if code, _ := parley.MemberString(parley.Member(envelope, "error"), "error_code"); code != string(tool.DependencyUnavailable) {
		t.Errorf("answered %s", envelope)
	}
}

// madeUp are the ids of calls that stand for forms.
var madeUp = regexp.MustCompile("form-[0-9a-f]+(-[0-9]+)?")
