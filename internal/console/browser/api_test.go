package browser

import (
	"io"
	"net/http"
	"strings"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// postProposal proposes a call with params that are these bytes.
func (p *page) postProposal(who, params string) {
	p.t.Helper()
	p.post(who, `{"kind":"mcp/proposal:tools/call:write_file","to":["files"],"payload":{"method":"tools/call","params":`+params+`}}`)
}

// post sends an envelope as it is written.
func (p *page) post(who, envelope string) {
	p.t.Helper()
	p.call(who, "/v1/spaces/"+p.gateway.Space+"/envelopes", envelope, http.StatusAccepted)
}

// signInCode is the code of a new link.
func (p *page) signInCode(who string) string {
	p.t.Helper()
	code, ok := parley.MemberString(p.call(who, "/v1/session/code", "", http.StatusCreated), "code")
	if !ok {
		p.t.Fatal("the gateway made no code")
	}
	return code
}

// call posts to the gateway as a participant, and returns what it answered.
func (p *page) call(who, path, body string, want int) []byte {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), "POST", p.gateway.URL+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.gateway.Token(who))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		p.t.Fatalf("%s: %s: %s %v", path, resp.Status, b, err)
	}
	return b
}

func (p *page) openProposals() []client.ProposalRecord {
	p.t.Helper()
	api, err := client.NewAPI(p.gateway.URL, &client.Options{Token: p.gateway.Token("you"), Space: p.gateway.Space})
	if err != nil {
		p.t.Fatal(err)
	}
	open, err := api.Proposals(p.t.Context(), client.ProposalOpen)
	if err != nil {
		p.t.Fatal(err)
	}
	return open
}
