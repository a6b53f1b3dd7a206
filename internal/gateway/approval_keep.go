package gateway

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
)

// Approval links lie in e-mails, so they outlive the process: in a file like that
// of the sessions, which holds hashes alone, and which only its owner may write.

type keptApprovals struct {
	Links []keptApproval `json:"links"` // oldest first
}

type keptApproval struct {
	Code     hash        `json:"code"`
	Space    string      `json:"space"`
	Proposal string      `json:"proposal"`
	Seq      uint64      `json:"seq"`
	Proposer string      `json:"proposer,omitempty"`
	Decider  string      `json:"decider"`
	Tokens   []hash      `json:"tokens"`
	Made     time.Time   `json:"made"`
	Expires  time.Time   `json:"expires"`
	Ended    approvalEnd `json:"ended,omitempty"`
	EndedAt  time.Time   `json:"ended_at,omitzero"`
	Verdict  string      `json:"verdict,omitempty"`
}

// mostKeptApprovals is more than the file of mostApprovals links has, in bytes.
const mostKeptApprovals = 16 << 20

// approvalFile is what was written of them.
type approvalFile struct {
	mu     sync.Mutex // held while it is written
	change uint64     // the last that was
}

// saveApprovals writes the file, if there is to be one: who is given a link can rely
// on it, and who has used one that it stays used. What many ask for at once is
// written once.
func (g *Gateway) saveApprovals() {
	if g.opts.ApprovalLinks == "" {
		return
	}
	f := &g.api.approvalFile
	f.mu.Lock()
	defer f.mu.Unlock()
	list, change := g.api.approvals.all()
	if change == f.change {
		return
	}
	kept := keptApprovals{Links: make([]keptApproval, 0, len(list))}
	for _, l := range list {
		one := keptApproval{
			Code: l.code, Space: l.space, Proposal: l.proposal, Seq: l.seq, Proposer: l.proposer, Decider: l.decider,
			Made: l.made.UTC(), Expires: l.expires.UTC(), Ended: l.ended, EndedAt: l.endedAt.UTC(), Verdict: l.verdict,
		}
		for _, token := range l.tokens {
			one.Tokens = append(one.Tokens, token)
		}
		kept.Links = append(kept.Links, one)
	}
	data, err := json.Marshal(kept)
	if err == nil {
		err = replaceFile(g.opts.ApprovalLinks, append(data, '\n'))
	}
	if err != nil {
		g.log.Error("approval links are not kept: after a restart those made since may not work, and those that ended since may again", "error", err)
		return
	}
	f.change = change
}

// restoreApprovals takes up the links that were kept. One whose decider has none of
// its tokens any more has ended, also should the token come back.
func (g *Gateway) restoreApprovals() {
	kept, err := readApprovals(g.opts.ApprovalLinks)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		g.log.Warn("the approval links that were made before work no more", "error", err)
		return
	}
	now := g.now()
	for _, k := range kept.Links {
		l := approval{
			code: k.Code, space: k.Space, proposal: k.Proposal, seq: k.Seq, proposer: k.Proposer, decider: k.Decider,
			made: k.Made, expires: k.Expires, ended: k.Ended, endedAt: k.EndedAt, verdict: k.Verdict,
		}
		for _, token := range k.Tokens {
			l.tokens = append(l.tokens, token)
		}
		if l.forgotten(now) || l.expires.Sub(l.made) > approvalMost || l.made.After(now) {
			continue
		}
		if _, ok := g.deciderOf(&l); !ok && l.state(now) == approvalOpen {
			l.ended, l.endedAt = approvalWithdrawn, now
		}
		g.api.approvals.add(l, now, nil)
	}
	g.saveApprovals()
}

func readApprovals(path string) (kept keptApprovals, err error) {
	f, err := os.Open(path)
	if err != nil {
		return kept, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostKeptApprovals))
	if err == nil {
		err = json.Unmarshal(data, &kept, json.RejectUnknownMembers(true))
	}
	return kept, err
}
