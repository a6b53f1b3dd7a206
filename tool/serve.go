package tool

import (
	"context"
	"encoding/json" // the SDK's
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley/internal/response"
)

// served is all that one call leaves behind. It is one piece, so that a call
// costs one allocation where it would cost six.
type served struct {
	call    Call
	run     run
	session session
	began   time.Time
	answer  response.Answer
	body    json.RawMessage // the answer as it is sent
	usage   usage
	text    mcp.TextContent
	content [1]mcp.Content
	result  mcp.CallToolResult
}

// serve is a call from its arguments to its result. An error is one of the
// protocol, and the answer's own errors are not.
func (d *declared) serve(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if len(d.tool.Needs) > 0 && modern(req) {
		return d.serveModern(ctx, req)
	}
	s := d.server
	s.calls.begin()
	defer s.calls.end()

	v := new(served)
	v.session = session{s, req}
	v.run.peer = &v.session
	err := d.open(&v.call, req.Params.Meta)
	if err == nil && len(d.tool.Needs) > 0 {
		v.run.id = newHandle()
		err = d.lacking(&v.session, false)
	}
	if err != nil {
		d.finish(ctx, v, nil, err)
		return &v.result, nil
	}
	if err := d.complete(ctx, v, req.Params.Arguments); err != nil {
		return nil, protocol(err)
	}
	return &v.result, nil
}

// protocol is an error as the SDK sends it.
func protocol(err error) error {
	if e, ok := errors.AsType[*PeerError](err); ok {
		return e.rpc()
	}
	return err
}

// rpc is the error as the SDK sends it.
func (e *PeerError) rpc() error {
	return &jsonrpc.Error{Code: e.Code, Message: e.Message, Data: json.RawMessage(e.Data)}
}

// complete runs the function, and makes the answer. An error is the protocol's.
func (d *declared) complete(ctx context.Context, v *served, raw []byte) error {
	v.began = d.server.now()
	v.call.open(&v.run)
	data, err := d.run(ctx, &v.call, raw)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		if _, ok := errors.AsType[*panicked](err); ok {
			d.report(ctx, v.call.id, err)
		}
		return ctx.Err() // whom it was for does not listen any more
	}
	if unknown, ok := errors.AsType[*outcomeUnknown](err); ok {
		return &PeerError{Code: codeInternal, Message: unknown.Error(), Data: []byte(`{"code":"outcome_unknown"}`)}
	}
	d.finish(ctx, v, data, err)
	return nil
}

// finish makes the result out of what came of the call.
func (d *declared) finish(ctx context.Context, v *served, data jsontext.Value, err error) {
	s := d.server
	shape := s.source.Config().Shape(d.tool.Name, v.call.tier)
	d.fill(&v.answer, &v.call, data)
	if err != nil {
		d.fail(ctx, &v.answer, err, shape.Profile() == response.Debug)
	}
	if !v.began.IsZero() {
		v.answer.Duration = s.now().Sub(v.began)
	}
	v.seal(shape)
	if !s.opts.NoUsage {
		v.count(shape)
	}
}

// open finds out who calls.
func (d *declared) open(c *Call, meta map[string]any) error {
	c.tool, c.tier = &d.tool, d.server.tier()
	id, err := givenID(meta)
	if c.id, c.asked = id, id != "" && err == nil; !c.asked {
		c.id = d.server.newID()
	}
	return err
}

// lacking is an error where the tool needs somebody who is not there: one of the
// protocol in the era that has one for it.
func (d *declared) lacking(p Peer, modern bool) error {
	a := d.tool.lacks(p)
	if a == "" {
		return nil
	}
	text := fmt.Sprintf("%s needs %s, which the caller did not declare, and nobody else here answers", d.tool.Name, a)
	if modern {
		return &PeerError{Code: mcp.CodeMissingRequiredClientCapabilities, Message: text, Data: required(d.tool.Needs)}
	}
	return &AskError{Reason: Missing, Message: text}
}

// required are abilities as a client declares them, in the data of that error.
// The SDK's type would require roots as well.
func required(needs []Ability) jsontext.Value {
	caps := make(map[string]any)
	for _, a := range needs {
		switch a {
		case Elicitation:
			caps["elicitation"] = map[string]any{"form": struct{}{}}
		case SamplingTools:
			caps["sampling"] = map[string]any{"tools": struct{}{}}
		case Sampling:
			if caps["sampling"] == nil {
				caps["sampling"] = struct{}{}
			}
		}
	}
	data, _ := json.Marshal(map[string]any{"requiredCapabilities": caps}) // of empty objects
	return data
}

// fill tells what there is to tell, whatever came of the call.
func (d *declared) fill(a *response.Answer, c *Call, data jsontext.Value) {
	a.Tool, a.Version, a.Tier = d.tool.Name, d.tool.Version, c.tier
	a.RequestID, a.Asked = c.id, c.asked
	a.Capabilities = d.capabilities
	a.Data = data
	a.Hints = c.Hints() // a copy: a goroutine that outlives the call may tell more
}

// seal makes the result out of the answer.
func (v *served) seal(shape *response.Shape) {
	v.body = shape.Append(make([]byte, 0, len(v.answer.Data)+roomForMetadata), &v.answer)
	v.text.Text = string(v.body)
	v.content[0] = &v.text
	v.result.Content = v.content[:]
	v.result.StructuredContent = &v.body
	v.result.IsError = v.answer.Error != nil
}

// roomForMetadata is what an answer mostly takes beside its data, in bytes.
const roomForMetadata = 64

// run runs the tool's function, which may take long and may panic.
func (d *declared) run(ctx context.Context, c *Call, raw []byte) (data jsontext.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			data, err = nil, newPanic(p)
		}
	}()
	if d.tool.Timeout == 0 {
		return d.body(ctx, c, raw)
	}
	overdue := Errorf(Timeout, "%s did not finish within %v", d.tool.Name, d.tool.Timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, d.tool.Timeout, overdue)
	defer cancel()
	data, err = d.body(ctx, c, raw)
	// A command that was killed or a connection that was closed for it have
	// errors of their own, which do not say why.
	if err != nil && context.Cause(ctx) == error(overdue) {
		err = errors.Join(err, overdue)
	}
	return data, err
}
