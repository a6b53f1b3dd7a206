package room

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcp"
	"github.com/parleyhq/parley/tool"
)

// The services that tools ask for, by the capabilities that declare them.
const (
	serviceSampling    = "sampling"
	serviceElicitation = "elicitation"
)

// peer is whom a call's tool asks and tells: the caller, and others in the room.
type peer struct {
	a        *attendance
	call     *call
	whose    []string       // those who hear of the call; the last one is asked
	declared jsontext.Value // what that one can be asked for
	token    jsontext.Value // for progress; nil where nobody wants to hear of it
	level    int            // of log messages, an index of severities; -1: nobody wants any
}

func newPeer(a *attendance, c *call, whose []string) *peer {
	meta := parley.Member(c.params, "_meta")
	level, _ := parley.MemberString(meta, mcp.MetaLogLevel)
	return &peer{
		a: a, call: c, whose: whose,
		declared: parley.Member(meta, mcp.MetaClientCapabilities),
		token:    parley.Member(meta, mcp.MetaProgressToken),
		level:    slices.Index(severities, level),
	}
}

// caller is who is asked first.
func (p *peer) caller() string { return p.whose[len(p.whose)-1] }

// declares says whether the caller can be asked for what needs an ability.
func (p *peer) declares(needs tool.Ability) bool {
	can := parley.Member(p.declared, service(needs))
	if can.Kind() != '{' {
		return false
	}
	switch needs {
	case tool.SamplingTools:
		return parley.Member(can, "tools").Kind() == '{'
	case tool.Elicitation:
		// One that names no mode has forms.
		return parley.Member(can, "form") != nil || parley.Member(can, "url") == nil
	}
	return true
}

func service(needs tool.Ability) string {
	if needs == tool.Elicitation {
		return serviceElicitation
	}
	return serviceSampling
}

// Can says whether somebody is here. For a run that is gone on with somebody was,
// and will be, as far as anybody serves that at all.
func (p *peer) Can(needs tool.Ability) bool {
	others := p.a.opts.Serves[service(needs)]
	if p.declares(needs) || p.call.again && len(others) > 0 {
		return true
	}
	who, err := p.a.present(p.call.ctx, others)
	if err != nil {
		p.a.log.Warn("who is here to answer a tool is not known", "error", err)
	}
	return who != ""
}

// severities are the levels of log messages in MCP's words, the least first.
var severities = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// Notify tells those whose call it is, if they want to hear it.
func (p *peer) Notify(ctx context.Context, method string, params jsontext.Value) error {
	switch method {
	case notifications + "progress":
		if p.token == nil {
			return nil
		}
		params = mcp.SetMember(params, "progressToken", p.token)
	case notifications + "message":
		level, _ := parley.MemberString(params, "level")
		if p.level < 0 || slices.Index(severities, level) < p.level {
			return nil
		}
	}
	_, err := p.a.room.Notify(ctx, "", method, params, client.To(p.whose...), client.Correlate(p.call.envelope.ID), client.InContext(p.call.within()))
	return err
}

// within is the context of a call. It does not repeat metadata, which newer ones
// may have replaced meanwhile.
func (c *call) within() *parley.Context {
	if of := c.envelope.Context; of != nil && of.Metadata != nil {
		return &parley.Context{ID: of.ID, Type: of.Type, Parent: of.Parent}
	}
	return c.envelope.Context
}
