package tool

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	wire "github.com/parleyhq/parley/internal/mcp"
)

// modern says whether a request is of an era in which servers ask by their
// results.
func modern(req *mcp.CallToolRequest) bool {
	return req.Params.Meta[wire.MetaVersion] != nil
}

// serveModern answers a request of a call that may take several.
func (d *declared) serveModern(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	c, err := d.conversation(ctx, req)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err() // nobody waits for a word on it
	}
	if err != nil {
		return d.refuse(req, err)
	}
	defer c.attach(ctx, req)()
	c.deliver(req.Params.InputResponses)
	return c.turn(ctx)
}

// callerOf is who makes a request, where the HTTP server knows its callers.
func callerOf(req *mcp.CallToolRequest) string {
	if req.Extra == nil || req.Extra.TokenInfo == nil {
		return ""
	}
	return req.Extra.TokenInfo.UserID
}

// conversation is the run that a request begins, or goes on with.
func (d *declared) conversation(ctx context.Context, req *mcp.CallToolRequest) (*conversation, error) {
	s := d.server
	if s.kept != nil && d.handoff && s.runs.over() {
		return nil, &PeerError{Code: codeInternal, Message: "the server is about to end: go on later, with the same requestState"}
	}
	if req.Params.RequestState == "" {
		return d.converse(req)
	}
	handle := handleOf(req.Params.RequestState)
	c, err := s.running(ctx, handle)
	if err != nil {
		return nil, err
	}
	if c == nil && handle != "" {
		if c, err = d.revive(req, handle); err != nil {
			return nil, err
		}
	}
	if c == nil || c.user != callerOf(req) {
		return nil, unknownRun()
	}
	if c.d != d || c.args != meaningOf(req.Params.Arguments) {
		return nil, &PeerError{Code: codeInvalidParams, Message: "this requestState is of another call: a call is gone on with under its name, with its arguments"}
	}
	return c, nil
}

// running is the run of a handle; nil where there is none in memory. One that is
// being put away is waited for: it is gone on with from the disk.
func (s *Server) running(ctx context.Context, handle string) (*conversation, error) {
	c := s.runs.get(handle)
	if c == nil || !parked(c.during) {
		return c, nil
	}
	select {
	case <-c.done:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// converse begins a run.
func (d *declared) converse(req *mcp.CallToolRequest) (*conversation, error) {
	s, handle := d.server, newHandle()
	if s.kept == nil || !d.handoff {
		return s.begin(d, req, handle, nil, nil)
	}
	if err := d.lacking(&session{s, req}, true); err != nil {
		return nil, err
	}
	s.sweep()
	k, err := keep(s.kept, runName(handle), called{Tool: d.tool.Name, Arguments: meaningOf(req.Params.Arguments), User: callerOf(req)})
	if err != nil {
		return nil, err
	}
	c, err := s.begin(d, req, handle, k, nil)
	if err != nil {
		k.close()
		s.kept.Remove(runName(handle))
	}
	return c, err
}

// revive goes on with a run that is kept; nil where it is not.
func (d *declared) revive(req *mcp.CallToolRequest, handle string) (*conversation, error) {
	s := d.server
	if s.kept == nil || !d.handoff {
		return nil, nil
	}
	s.reviving.Lock() // the same run is asked for twice where a client is impatient
	defer s.reviving.Unlock()
	if c := s.runs.get(handle); c != nil {
		return c, nil
	}
	k, answers, err := reopen(s.kept, runName(handle))
	if k == nil || err != nil {
		return nil, err
	}
	if k.called.User != callerOf(req) {
		k.close()
		return nil, nil
	}
	if !k.called.is(d.tool.Name, req.Params.Arguments) {
		k.close()
		return nil, &PeerError{Code: codeInvalidParams, Message: "this requestState is of another call: a call is gone on with under its name, with its arguments"}
	}
	c, err := s.begin(d, req, handle, k, answers)
	if err != nil {
		k.close()
	}
	return c, err
}

// refuse answers a request for which there is no run.
func (d *declared) refuse(req *mcp.CallToolRequest, err error) (*mcp.CallToolResult, error) {
	if _, ok := errors.AsType[*PeerError](err); ok {
		return nil, protocol(err)
	}
	v := new(served)
	d.open(&v.call, req.Params.Meta)
	d.finish(context.Background(), v, nil, err)
	return &v.result, nil
}
