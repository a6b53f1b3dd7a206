package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

func newAPI(t *testing.T, g *gateway) *client.API {
	t.Helper()
	a, err := client.NewAPI("http://gateway", &client.Options{Token: "you", Space: "demo", HTTPClient: g.client(t)})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// replies lets the gateway answer one call after the other, and notes them.
func replies(g *gateway, bodies ...string) *[]string {
	calls := new([]string)
	g.extra = func(w http.ResponseWriter, r *http.Request) bool {
		body, _ := io.ReadAll(r.Body)
		*calls = append(*calls, fmt.Sprint(r.Method, " ", r.URL, " ", string(body)))
		if r.Header.Get("Authorization") != "Bearer you" {
			writeProblem(w, 401, "unauthorized", "no token")
			return true
		}
		w.Write([]byte(bodies[0]))
		bodies = bodies[1:]
		return true
	}
	return calls
}

func TestAPIEnvelope(t *testing.T) {
	g := newGateway(t)
	envelope := `{"seq":3,"id":"a","kind":"chat","payload":{"n":9007199254740993}}`
	calls := replies(g, envelope, envelope)
	e, err := newAPI(t, g).Envelope(t.Context(), "a/b?c")
	if err != nil || e.Seq != 3 || string(e.Payload) != `{"n":9007199254740993}` {
		t.Errorf("got %+v, %v", e, err)
	}
	if got := (*calls)[0]; got != "GET /v1/spaces/demo/envelopes/a%2Fb%3Fc " {
		t.Errorf("asked %q", got)
	}
	if _, err := newAPI(t, g).Envelope(t.Context(), ".."); err != nil || (*calls)[1] != "GET /v1/spaces/demo/envelopes/%2E%2E " {
		t.Errorf("asked %q, %v", (*calls)[1:], err)
	}
}

// Pages follow the gateway's cursor, in the direction of the order.
func TestAPIPages(t *testing.T) {
	page := func(first, n int, next string) string {
		var s strings.Builder
		s.WriteString(`{"items":[`)
		for i := range n {
			if i > 0 {
				s.WriteString(",")
			}
			s.WriteString(fmt.Sprintf(`{"seq":%d,"kind":"chat"}`, first+i))
		}
		return s.String() + "]" + next + "}"
	}
	for name, c := range map[string]struct {
		q     *client.Query
		pages []string
		want  int
		asked []string
	}{
		"all": {
			nil,
			[]string{page(1, 2, `,"next":2`), page(3, 2, `,"next":"4"`), page(5, 1, ``)}, 5,
			[]string{"limit=1000", "after=2&limit=1000", "after=4&limit=1000"},
		},
		"newest first": {
			&client.Query{Descending: true, Kind: "chat", From: "you", To: "me", Context: "c", Subtree: true, Correlation: "x", Text: "word",
				Since: time.Unix(0, 0), Before: 9},
			[]string{page(1, 2, `,"next":7`), page(3, 1, ``)}, 3,
			[]string{
				"before=9&context=c&correlation=x&from=you&kind=chat&limit=1000&order=desc&q=word&since=1970-01-01T00%3A00%3A00Z&subtree=true&to=me",
				"before=7&context=c&correlation=x&from=you&kind=chat&limit=1000&order=desc&q=word&since=1970-01-01T00%3A00%3A00Z&subtree=true&to=me",
			},
		},
		"a limit": {&client.Query{Limit: 3}, []string{page(1, 2, `,"next":2`), page(3, 2, `,"next":4`)}, 3, []string{"limit=3", "after=2&limit=3"}},
		"a cursor that stands still": {
			nil, []string{page(1, 1, `,"next":1`), page(1, 1, `,"next":1`)}, 2,
			[]string{"limit=1000", "after=1&limit=1000"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t)
			calls := replies(g, c.pages...)
			n := 0
			for _, err := range newAPI(t, g).Envelopes(t.Context(), c.q) {
				if err != nil {
					t.Fatal(err)
				}
				n++
			}
			if n != c.want || len(*calls) != len(c.asked) {
				t.Fatalf("got %d in %d calls", n, len(*calls))
			}
			for i, want := range c.asked {
				if got := (*calls)[i]; got != "GET /v1/spaces/demo/envelopes?"+want+" " {
					t.Errorf("asked %q, want %q", got, want)
				}
			}
		})
	}
}

func TestAPILists(t *testing.T) {
	g := newGateway(t)
	replies(g,
		`{"items":[{"id":"p","kind":"chat"},{"id":"q","kind":"chat"}]}`,
		`{"items":[{"id":"you","present":true,"capabilities":["chat"]},{"id":"agent","present":false}]}`,
		`{"items":[{"id":"p","state":"open","to":["files"],"payload":{"method":"x"},"opened":"2026-01-02T03:04:05.678Z"}]}`,
		`{"id":"p","state":"rejected","closed":{"by":"you","id":"r","at":"2026-01-02T03:04:05.678Z","reason":"unsafe"}}`,
	)
	a := newAPI(t, g)
	if chain, err := a.Chain(t.Context(), "p"); err != nil || len(chain.Envelopes) != 2 || chain.Truncated {
		t.Errorf("chain: %v, %v", chain, err)
	}
	if people, err := a.Participants(t.Context()); err != nil || len(people) != 2 || !people[0].Present || people[1].Present || len(people[0].Capabilities) != 1 {
		t.Errorf("participants: %+v, %v", people, err)
	}
	if list, err := a.Proposals(t.Context(), client.ProposalOpen); err != nil || len(list) != 1 || list[0].To[0] != "files" || list[0].Opened.IsZero() {
		t.Errorf("proposals: %+v, %v", list, err)
	}
	p, err := a.Proposal(t.Context(), "p")
	if err != nil || p.State != "rejected" || p.Closed.By != "you" || p.Closed.Reason != "unsafe" || p.Closed.At.Year() != 2026 {
		t.Errorf("proposal: %+v, %v", p, err)
	}
}

func TestAPIPost(t *testing.T) {
	g := newGateway(t)
	calls := replies(g, `{"id":"c","seq":7,"epoch":"e1","ts":"2026-01-02T03:04:05.678Z"}`)
	got, err := newAPI(t, g).Post(t.Context(), client.NewChat("hello", client.WithID("c")))
	if err != nil || got != (client.Receipt{ID: "c", Seq: 7, Epoch: "e1"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if want := `POST /v1/spaces/demo/envelopes {"id":"c","kind":"chat","payload":{"text":"hello"}}`; (*calls)[0] != want {
		t.Errorf("asked %q", (*calls)[0])
	}
}

func TestAPIErrors(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   parley.Code
	}{
		"a problem":       {404, `{"code":"not_found","detail":"no envelope"}`, parley.NotFound},
		"no problem":      {503, `gone`, parley.Unavailable},
		"no JSON":         {200, `<html>`, parley.Internal},
		"doubtful JSON":   {200, `{"kind":"chat","kind":"x"}`, parley.Internal},
		"not an envelope": {200, `{"Kind":"chat"}`, parley.MalformedEnvelope},
	} {
		g := newGateway(t)
		g.extra = func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(c.status)
			w.Write([]byte(c.body))
			return true
		}
		_, err := newAPI(t, g).Envelope(t.Context(), "x")
		if !errors.Is(err, &parley.Error{Code: c.want}) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := client.NewAPI("http://gateway", nil); !errors.Is(err, &parley.Error{Code: parley.InvalidArgument}) {
		t.Errorf("without a space: %v", err)
	}
}

// A post that was admitted the first time is told as admitted.
func TestAPIPostAgain(t *testing.T) {
	g := newGateway(t)
	g.extra = func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(409)
		w.Write([]byte(`{"code":"duplicate_id","detail":"used","seq":7}`))
		return true
	}
	got, err := newAPI(t, g).Post(t.Context(), client.NewChat("hello", client.WithID("c")))
	if err != nil || got.Seq != 7 || got.ID != "c" {
		t.Errorf("got %+v, %v", got, err)
	}
}
