package space

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/parleyhq/parley"
)

// TestNobodyGoesOnUnasked draws what a proposer without the right to call, those
// who approve, and a server can do, with restarts in between, and then reads the
// record: each round of the proposer stands behind an answer that asked for it,
// which no other round stands behind.
func TestNobodyGoesOnUnasked(t *testing.T) {
	rounds, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		p := newPlay(t, t.Name())
		p.rules.Limits.Burst = 1_000
		p.start()
		sent := 0
		of := func(typ string) string { // one of the newest of that type
			ids := []string{"e0"}
			for _, v := range p.record {
				if v.Kind.Type == typ {
					ids = append(ids, v.Envelope.ID)
				}
			}
			return rapid.SampledFrom(ids[max(0, len(ids)-3):]).Draw(rt, typ)
		}
		proposal, request := func() string { return of(parley.TypeProposal) }, func() string { return of(parley.TypeRequest) }
		for range rapid.IntRange(20, 60).Draw(rt, "acts") {
			sent++
			id := fmt.Sprint("e", sent)
			params := fmt.Sprintf(`"name":"w","arguments":{"n":%d}`, rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(rt, "n"))
			state := rapid.SampledFrom([]string{``, ``, `,"requestState":"a"`}).Draw(rt, "state")
			who := rapid.SampledFrom([]string{"you", "boss"}).Draw(rt, "who")
			var answer []string
			switch rapid.SampledFrom([]string{"propose", "fulfil", "fulfil", "more", "more", "done", "on", "on", "on", "on too", "restart"}).Draw(rt, "act") {
			case "propose":
				p.send("agent", fmt.Sprintf(`{"id":%q,"to":["files"],"kind":"mcp/proposal:tools/call:w","payload":{"method":"tools/call","params":{%s}}}`, id, params))
			case "fulfil":
				p.send(who, fmt.Sprintf(`{"id":%q,"to":["files"],"correlation_id":%q,"kind":"mcp/request:tools/call:w","payload":{"method":"tools/call","params":{%s}}}`, id, proposal(), params))
			case "more":
				p.send("files", fmt.Sprintf(`{"id":%q,"correlation_id":%q,"kind":"mcp/response:tools/call:w","payload":{"result":{"resultType":"input_required"%s}}}`, id, request(), state))
			case "done":
				p.send("files", fmt.Sprintf(`{"id":%q,"correlation_id":%q,"kind":"mcp/response:tools/call:w","payload":{"result":{}}}`, id, request()))
			case "on":
				answer = p.send("agent", fmt.Sprintf(`{"id":%q,"to":["files"],"correlation_id":[%q,%q],"kind":"mcp/request:tools/call:w","payload":{"method":"tools/call","params":{%s,"inputResponses":{}%s}}}`, id, request(), rapid.SampledFrom([]string{"e0", proposal(), request()}).Draw(rt, "beside"), params, state))
			case "on too":
				p.send(who, fmt.Sprintf(`{"id":%q,"to":["files"],"correlation_id":%q,"kind":"mcp/request:tools/call:w","payload":{"method":"tools/call","params":{%s,"inputResponses":{}%s}}}`, id, request(), params, state))
			case "restart":
				p.restart()
			}
			if len(answer) > 0 && answer[0][0] != '#' {
				refused++
			}
		}
		n, err := roundsOf("agent", p.record)
		if err != nil {
			rt.Fatal(err)
		}
		rounds += n
	})
	if rounds == 0 || refused == 0 {
		t.Errorf("%d rounds, and %d refused: that says nothing", rounds, refused)
	}
}

// roundsOf reads a record plainly.
func roundsOf(proposer string, record []Verdict) (rounds int, err error) {
	proposed := map[string]bool{}
	call := map[string]string{}  // requests to the fulfilment that they belong to
	asked := map[string]string{} // fulfilments to the requestState that was asked for last, and that nobody sent
	for _, v := range record {
		e := v.Envelope
		proposed[e.ID] = v.Kind.Type == parley.TypeProposal
		params := string(parley.Member(e.Payload, "params"))
		for _, id := range e.Correlation.IDs {
			switch v.Kind.Type {
			case parley.TypeResponse:
				result := parley.Member(e.Payload, "result")
				delete(asked, call[id])
				if parley.Member(result, "resultType") != nil {
					asked[call[id]] = string(parley.Member(result, "requestState"))
				}
			case parley.TypeRequest:
				f := id
				if on, is := call[id]; is && on == id {
					state, waits := asked[f]
					if e.From == proposer {
						rounds++
						if sent := string(parley.Member(parley.Member(e.Payload, "params"), "requestState")); !waits || sent != state {
							return rounds, fmt.Errorf("%s goes on with %s, which asked for nothing: %s", e.ID, f, params)
						}
					}
					if parley.Member(parley.Member(e.Payload, "params"), "inputResponses") != nil {
						delete(asked, f)
					}
					call[e.ID] = f
				} else if proposed[id] {
					call[e.ID] = e.ID
				}
			}
		}
		if v.Kind.Type == parley.TypeRequest && e.From == proposer && call[e.ID] == "" {
			return rounds, fmt.Errorf("%s called without an approval: %s", e.ID, params)
		}
	}
	return rounds, nil
}
