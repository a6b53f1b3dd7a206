package space

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parleyhq/parley"
)

// TestStateHasASize makes the state as large as participants can, who may send
// requests and proposals and nothing else: it still fits into a checkpoint.
func TestStateHasASize(t *testing.T) {
	p := newPlay(t, t.Name())
	p.rules.Limits.Burst = 1_000_000
	for i := range 20 {
		p.rules.Participants[fmt.Sprint("crowd", i)] = caps("mcp/*")
	}
	p.start()
	var names []string
	for i := range 64 {
		names = append(names, fmt.Sprintf(`"nobody-of-that-name-%d"`, i))
	}
	subject := strings.Repeat("s", 1_900)
	call := func(kind, id string) string {
		return fmt.Sprintf(`{"id":%q,"to":[%s],"kind":"mcp/%s:tools/call","payload":{"method":"tools/call","params":{"name":%q}}}`,
			id, strings.Join(names, ","), kind, subject)
	}
	refused := 0
	for i := range 20 {
		from := fmt.Sprint("crowd", i)
		for n := range 450 {
			if answer := p.send(from, call("proposal", fmt.Sprint(from, "-p", n)))[0]; strings.HasPrefix(answer, "refused limit_reached: open_proposals") {
				refused++
			} else if !strings.HasPrefix(answer, "#") {
				t.Fatal(answer)
			}
			if answer := p.send(from, call("request", fmt.Sprint(from, "-r", n)))[0]; !strings.HasPrefix(answer, "#") {
				t.Fatal(answer)
			}
		}
	}
	if refused == 0 {
		t.Error("nothing was refused")
	}
	if b := p.state.proposals; b.size > maxOpenBytes || b.size < maxOpenBytes/2 {
		t.Errorf("open proposals take %d bytes", b.size)
	}
	if b := p.state.requests; b.size > maxRequestBytes+1<<20 || b.size < maxRequestBytes/2 {
		t.Errorf("open requests take %d bytes", b.size)
	}
	data, err := p.state.Copy().Snapshot().JSON()
	if err != nil || len(data) > 24<<20 {
		t.Errorf("a snapshot takes %d bytes: %v", len(data), err)
	}
}

// TestContextOfARequestCounts asks once within a context of a long name: an open
// request takes more of the room by that name.
func TestContextOfARequestCounts(t *testing.T) {
	size := func(within string) int {
		p := newPlay(t, t.Name())
		p.do(`you> {"id":"q","to":["files"],` + within + `"kind":"mcp/request:tools/list","payload":{"method":"tools/list"}}`)
		return p.state.requests.size
	}
	if got := size(`"context":{"id":"`+strings.Repeat("c", 128)+`"},`) - size(""); got != 128 {
		t.Errorf("a name of 128 bytes takes %d", got)
	}
}

// TestProposalOfLongAgo ends more proposals than are remembered: a request that
// names one is still none like any other.
func TestProposalOfLongAgo(t *testing.T) {
	p := newPlay(t, t.Name())
	p.start()
	old := parley.Envelope{ID: "old", From: "agent", Kind: "mcp/proposal:tools/call:w", TS: p.now, Payload: []byte(`{"method":"tools/call","params":{"name":"w"}}`)}
	apply := func(e parley.Envelope) {
		e.Seq = p.state.Seq() + 1
		p.state.Apply(&e, parley.SplitKind(e.Kind))
	}
	apply(old)
	for i := range endedSize + 1 {
		apply(parley.Envelope{ID: fmt.Sprint("end", i), From: "you", Kind: "mcp/reject:tools/call:w", TS: p.now, Correlation: parley.CorrelateWith(old.ID)})
		old.ID = fmt.Sprint("p", i)
		apply(old)
	}
	request := `{"to":["files"],"kind":"mcp/request:tools/call:w","correlation_id":"%s","payload":{"method":"tools/call","params":{"name":"w"}}}`
	if got := p.send("you", fmt.Sprintf(request, "old"))[0]; !strings.HasPrefix(got, "refused proposal_not_found") {
		t.Error(got)
	}
	if got := p.send("you", fmt.Sprintf(request, "p0"))[0]; !strings.HasPrefix(got, "refused proposal_closed") {
		t.Error(got)
	}
}

// TestLazyForAWhile fulfils a proposal, and makes the space lazy and strict again:
// it is still fulfilled.
func TestLazyForAWhile(t *testing.T) {
	for _, restoring := range []bool{false, true} {
		p := newPlay(t, t.Name())
		p.start()
		p.do(`agent> {"id":"p","to":["files"],"kind":"mcp/proposal:tools/call:w","payload":{"method":"tools/call","params":{"name":"w"}}}`)
		p.do(`you> {"id":"f","to":["files"],"kind":"mcp/request:tools/call:w","correlation_id":"p","payload":{"method":"tools/call","params":{"name":"w"}}}`)
		for _, lazy := range []bool{true, false} {
			before := p.state
			p.rules.Lazy = lazy
			p.state = p.rebuilt()
			if restoring {
				p.state = before
				p.state = p.restored()
			}
			p.state.AdoptConnections(before)
		}
		got := p.do(`boss> {"id":"f2","to":["files"],"kind":"mcp/request:tools/call:w","correlation_id":"p","payload":{"method":"tools/call","params":{"name":"w"}}}`)[0]
		if !strings.HasPrefix(got, "refused proposal_closed") {
			t.Errorf("restoring is %v: %s", restoring, got)
		}
	}
}

// TestToolsHaveASize lists more tools than are kept, with names and changes as
// long as can be: what is kept fits into a checkpoint beside all the rest, and
// what is left out is told.
func TestToolsHaveASize(t *testing.T) {
	for _, long := range []bool{false, true} {
		p := newPlay(t, t.Name())
		for i := range 5 {
			p.rules.Participants[fmt.Sprint("server", i)] = nil
		}
		p.start()
		left, servers, rounds := 0, 5, []string{"seen"}
		if long {
			servers, rounds = 2, []string{"seen", "changed"}
		}
		for i := range servers {
			for _, round := range rounds {
				var list []Listed
				var tools []string
				for n := range maxToolsOf + 10 {
					name := fmt.Sprint("tool-", n)
					if long {
						name = strings.Repeat(`"`, maxToolName-len(name)) + name
					}
					list = append(list, Listed{name, parley.DigestParams(fmt.Appendf(nil, "%q", round))})
				}
				news := p.state.ToolNews(fmt.Sprint("server", i), list)
				left += news.Left
				for _, at := range slices.Concat(news.New, news.Changed) {
					tools = append(tools, fmt.Sprintf(`{"name":%q,"digest":"%x","summary":%q}`, list[at].Name, list[at].Digest, strings.Repeat("\\", MaxToolChange)))
				}
				payload := fmt.Sprintf(`{"event":"tools_%s","participant":"server%d","tools":[%s]}`, round, i, strings.Join(tools, ","))
				p.admitSystem(p.state.ToolNotice([]byte(payload), p.now), nil)
			}
		}
		b := p.state.tools
		if left == 0 || b.count > maxTools || b.size > maxToolBytes || b.size < maxToolBytes/2 {
			t.Errorf("%d tools take %d bytes, %d were left out", b.count, b.size, left)
		}
		data, err := p.state.Copy().Snapshot().JSON()
		if err != nil || len(data) > maxToolBytes+1<<20 {
			t.Errorf("a snapshot takes %d bytes: %v", len(data), err)
		}
		if r := p.restored().tools; r.size != b.size || r.count != b.count {
			t.Errorf("restored %d tools take %d bytes", r.count, r.size)
		}
	}
}
