package tool

import (
	"context"
	"encoding/json" // the SDK's
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley/internal/runlog"
)

// A Request is a call that comes some other way than over MCP's transports.
type Request struct {
	Tool      string
	Arguments jsontext.Value // an object; nil is an empty one
	Meta      jsontext.Value // the call's _meta, an object; nil is none
	// Peer is whom the tool asks, and tells how far it is; nil: nobody.
	Peer Peer
	// Run is the name of the run of a handoff, which is kept under it in
	// [Options.Runs], and gone on with where it is there, which takes the same
	// tool and arguments. "": the run is not kept.
	Run string
}

// Tools are the tools as MCP's tools/list has them: a list in the order of the
// names.
func (s *Server) Tools() jsontext.Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*mcp.Tool, 0, len(s.tools))
	for _, name := range slices.Sorted(maps.Keys(s.tools)) {
		list = append(list, s.tools[name].listed)
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // they were written when they were declared
	}
	return text
}

// Do makes a call, and returns its result, a CallToolResult of MCP. What is
// answered with an error of JSON-RPC instead is a [*PeerError]; any other error
// is ctx's, or the disk's.
//
// A run that is kept stays until [Server.Forget], whatever came of it: where ctx
// was cancelled it is gone on with by the next Do, and where it has ended it has
// the same end again.
func (s *Server) Do(ctx context.Context, r Request) (jsontext.Value, error) {
	s.mu.Lock()
	d := s.tools[r.Tool]
	s.mu.Unlock()
	if d == nil {
		return nil, &PeerError{Code: codeInvalidParams, Message: fmt.Sprintf("there is no tool %q", cut(r.Tool, 64))}
	}
	meta, err := metaOf(r.Meta)
	if err != nil {
		return nil, err
	}
	s.calls.begin()
	defer s.calls.end()
	v := new(served)
	v.run = run{peer: r.Peer, id: r.Run}
	if v.run.id == "" {
		v.run.id = newHandle()
	}
	if err := d.open(&v.call, meta); err != nil {
		d.finish(ctx, v, nil, err)
		return v.raw()
	}
	if err := d.lacking(r.Peer, false); err != nil {
		d.finish(ctx, v, nil, err)
		return v.raw()
	}
	if err := d.remember(v, r); err != nil {
		return nil, err
	}
	defer v.run.kept.close()
	if err := d.complete(ctx, v, r.Arguments); err != nil {
		return nil, err
	}
	return v.raw()
}

// remember keeps the run on disk, or finds it there.
func (d *declared) remember(v *served, r Request) (err error) {
	s := d.server
	if r.Run == "" || s.kept == nil || !d.handoff {
		return nil
	}
	k, answers, err := reopen(s.kept, doName(r.Run))
	if err != nil {
		return err
	}
	if k != nil && !k.called.is(r.Tool, r.Arguments) {
		k.close()
		return &PeerError{Code: codeInvalidParams, Message: "the run of this name is of another call: a run is gone on with by the same tool, with the same arguments"}
	}
	if v.run.kept, v.run.answered = k, answers; k != nil {
		return nil
	}
	v.run.kept, err = keep(s.kept, doName(r.Run), called{Tool: r.Tool, Arguments: meaningOf(r.Arguments)})
	return err
}

// Kept says whether a run of Do is on disk, whether it is under way or can be gone
// on with.
func (s *Server) Kept(run string) bool {
	if s.kept == nil {
		return false
	}
	k, _, err := reopen(s.kept, doName(run))
	k.close()
	return k != nil || errors.Is(err, runlog.ErrInUse) // by a Do that is under way
}

// Runs are the names of the runs of Do that are on disk.
func (s *Server) Runs() iter.Seq[string] {
	return func(yield func(string) bool) {
		if s.kept == nil {
			return
		}
		for run, err := range s.kept.Names() {
			name, ok := strings.CutPrefix(run.Name, doName(""))
			if err == nil && ok && !yield(name) {
				return
			}
		}
	}
}

// Forget takes a run off the disk, whose result has got to where it should.
func (s *Server) Forget(run string) error {
	if s.kept == nil {
		return nil
	}
	return s.kept.Remove(doName(run))
}

// doName is the name on disk of a run that comes by Do.
func doName(run string) string { return "do/" + run }

func metaOf(raw jsontext.Value) (meta map[string]any, err error) {
	if raw == nil {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &meta); err != nil {
		return nil, &PeerError{Code: codeInvalidParams, Message: "_meta is no object"}
	}
	return meta, nil
}

// raw is the result as JSON.
func (v *served) raw() (jsontext.Value, error) {
	text, err := json.Marshal(&v.result)
	if err != nil {
		return nil, errors.Join(errors.New("the result is no JSON"), err)
	}
	return text, nil
}
