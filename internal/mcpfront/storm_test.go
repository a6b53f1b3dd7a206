package mcpfront_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcpfront"
)

// TestStorm lets clients of both eras do all kinds of things at once, most of
// which they leave in the middle, and holds that nothing is left of them.
func TestStorm(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, waits(20*time.Millisecond))
	files := s.serve("files")
	boss := s.join("boss", client.Options{})
	deciding, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for deciding.Err() == nil {
			list, _ := boss.API().Proposals(deciding, client.ProposalOpen)
			for i, p := range list {
				switch i % 3 {
				case 0:
					_, _ = boss.FulfilID(deciding, p.ID) // its target may hang: the proposer decides how long
				case 1:
					if e, err := boss.API().Envelope(deciding, p.ID); err == nil {
						_, _ = boss.Reject(deciding, e, "disagree", "")
					}
				}
			}
		}
	})
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() { storm(s, rand.New(rand.NewPCG(1, uint64(i)))) })
	}
	clients.Wait()
	stop()
	wg.Wait()
	close(files.release)
	s.front().Sweep(time.Now().Add(mcpfront.ParkedFor + time.Second))
	defer func() {
		if t.Failed() {
			t.Log(s.front().Leftovers())
		}
	}()
	until(t, "nothing is left behind", func() bool { return s.front().Leftovers() == "" })
	s.works()
}

func storm(s *site, r *rand.Rand) {
	as := []string{"agent", "asker"}[r.IntN(2)]
	in := s.session("/mcp/demo", as, `{"elicitation":{}}`)
	for n := range 40 {
		var q request
		switch r.IntN(8) {
		case 0:
			q = tool("files__ask", `{"elicitation":{}}`, `{}`, "")
		case 1:
			q = tool("files__write", `{}`, fmt.Sprintf(`{"n":%d}`, r.IntN(3)), "")
		case 2:
			q = request{headers: []string{in}, body: call(n, "tools/call", `{"name":"files__ask","_meta":{"progressToken":1}}`)}
		case 3:
			q = request{headers: []string{in}, body: call(n, "tools/call", `{"name":"files__report","_meta":{"progressToken":1}}`)}
		case 4:
			q = request{headers: []string{in}, method: http.MethodGet}
		case 5:
			q = modern(n, "subscriptions/listen", `{}`, `{"notifications":{"resourceSubscriptions":["parley://files/file:///w/a"]}}`)
		case 6:
			q = request{headers: []string{in}, body: call(n, "resources/subscribe", `{"uri":"parley://files/file:///w/a"}`)}
		case 7:
			q = request{headers: []string{in}, method: http.MethodDelete}
		}
		q.as = as
		if q.method != http.MethodDelete {
			s.leave(q, time.Duration(r.IntN(20))*time.Millisecond)
		} else {
			s.do(q)
			in = s.session("/mcp/demo", as, `{"elicitation":{}}`)
		}
		if r.IntN(2) == 0 {
			s.leave(request{as: as, headers: []string{in}, body: fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, n)}, time.Second)
		}
	}
	s.do(request{as: as, headers: []string{in}, method: http.MethodDelete})
}

// leave makes a request and hangs up after a while.
func (s *site) leave(q request, after time.Duration) {
	ctx, cancel := context.WithTimeout(s.t.Context(), after)
	defer cancel()
	r, err := s.request(ctx, q)
	if err != nil {
		s.t.Error(err)
		return
	}
	if res, err := s.web.Do(r); err == nil {
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
}
