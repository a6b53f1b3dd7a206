package mcpfront

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// initialize opens a session (2025-11-25 and before).
func (f *Front) initialize(w http.ResponseWriter, r *http.Request, at Place, target string, m jsonrpc.Message) error {
	seat, err := f.seat(r.Context(), at)
	if err != nil {
		return err
	}
	version, ok := parley.MemberString(m.Params, "protocolVersion")
	if !ok {
		writeRPC(w, http.StatusBadRequest, m.ID, invalidParams("params.protocolVersion is not a string"))
		return nil
	}
	if !mcp.IsLegacy(version) {
		version = mcp.LegacyVersions[0]
	}
	c := caller{seat: seat, place: at, target: target, version: version, caps: usable(member(m.Params, "capabilities"))}
	self, err := c.self(r.Context())
	if err != nil {
		writeRPC(w, http.StatusOK, m.ID, rpcError(err))
		return nil
	}
	s, err := f.newSession(c)
	if err != nil {
		writeRPC(w, http.StatusServiceUnavailable, m.ID, rpcError(err))
		return nil
	}
	w.Header().Set(mcp.SessionHeader, s.id)
	b := append(jsontext.Value(`{"protocolVersion":`), mcp.Quote(version)...)
	b = append(append(b, `,"capabilities":`...), self.capabilities...)
	b = append(append(b, `,"serverInfo":`...), self.info...)
	if self.instructions != nil {
		b = append(append(b, `,"instructions":`...), self.instructions...)
	}
	if writeJSON(w, http.StatusOK, jsonrpc.EncodeResult(m.ID, append(b, '}'))) != nil {
		f.endSession(s) // nobody knows its id
	}
	return nil
}

// discover answers server/discover (2026-07-28).
func (x *exchange) discover(ctx context.Context) (jsontext.Value, error) {
	self, err := x.self(ctx)
	if err != nil {
		return nil, err
	}
	self.capabilities = mcp.DropMember(self.capabilities, "tasks") // an extension of the other era
	b := append(jsontext.Value(`{"supportedVersions":[`), mcp.Quote(mcp.Modern)...)
	b = append(append(b, `],"capabilities":`...), self.capabilities...)
	if self.instructions != nil {
		b = append(append(b, `,"instructions":`...), self.instructions...)
	}
	b = append(append(append(b, `,"_meta":{`...), mcp.Quote(mcp.MetaServerInfo)...), ':')
	b = append(append(b, self.info...), '}')
	return append(b, `,"ttlMs":0,"cacheScope":"private"}`...), nil
}

// self is what an endpoint says of itself.
type self struct{ capabilities, info, instructions jsontext.Value }

// self is that of the space, or in a pass-through what the participant said.
func (c *caller) self(ctx context.Context) (self, error) {
	if c.target == "" {
		return c.room(), nil
	}
	offer, err := c.offer(ctx, c.target)
	if err != nil {
		return self{}, err
	}
	s := self{
		capabilities: member(offer.Info, "capabilities"),
		info:         member(offer.Info, "serverInfo"),
		instructions: member(offer.Info, "instructions"),
	}
	if s.info == nil {
		s.info = member(member(offer.Info, "_meta"), mcp.MetaServerInfo)
	}
	if s.info.Kind() != '{' { // 2026-07-28 lets a server be silent about it
		s.info = append(append(jsontext.Value(`{"name":`), mcp.Quote(c.target)...), `,"version":"0"}`...)
	}
	if s.capabilities.Kind() != '{' {
		s.capabilities = jsontext.Value(`{}`)
	}
	return s, nil
}

func (c *caller) room() self {
	f := c.seat.front
	info := append(jsontext.Value(`{"name":"parley","title":`), mcp.Quote("Parley: "+c.place.Space)...)
	info = append(append(append(info, `,"version":`...), mcp.Quote(f.opts.Version)...), '}')
	servers := strings.Join(f.house.Servers(c.place.Space), ", ")
	if servers == "" {
		servers = "none yet"
	}
	text := "You are " + c.place.Participant + " in the Parley space " + c.place.Space + ", a room that people, agents and MCP servers share. " +
		"Everything that you do here is on record and seen by the others. The servers here: " + servers + "; their tools are called SERVER__TOOL. " +
		"A tool whose description says so needs approval: its call waits until a person or another agent has decided, and may come back as pending. " +
		"Then make exactly the same call again, or use parley__await; do not look for a way around it. parley__read tells what the others say and do."
	if builtinOf("parley__chat").allowed(c.seat.room.Capabilities()) {
		text += " parley__chat answers them."
	}
	return self{
		capabilities: jsontext.Value(`{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"completions":{},"logging":{}}`),
		info:         info,
		instructions: mcp.Quote(text),
	}
}

// setLevel notes from which level on the client wants servers' log messages. It
// goes with each of its calls.
func (x *exchange) setLevel(ctx context.Context) (jsontext.Value, error) {
	level := member(x.msg.Params, "level")
	if name, ok := mcp.Unquote(level); !ok || !isLevel(name) {
		return nil, invalidParams("params.level is none of MCP's levels")
	}
	x.session.mu.Lock()
	x.session.level = level
	x.session.mu.Unlock()
	return jsontext.Value(`{}`), nil
}

// levels are those of log messages, what matters most last.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

func isLevel(name string) bool { return slices.Contains(levels, name) }

func (s *session) logLevel() jsontext.Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.level
}

// complete answers completion/complete, by the server whose prompt or template
// it is about.
func (x *exchange) complete(ctx context.Context) (jsontext.Value, error) {
	ref := member(x.msg.Params, "ref")
	server, own, key := "", "", "name"
	var err error
	if name, ok := parley.MemberString(ref, "name"); ok {
		server, own, err = x.find(ctx, name, sectionPrompts)
	} else if uri, ok := parley.MemberString(ref, "uri"); ok {
		key = "uri"
		server, own, err = x.findURI(ctx, uri)
	} else {
		return nil, invalidParams("params.ref names neither a prompt nor a resource")
	}
	if err != nil {
		return nil, err
	}
	if server == "" {
		return nil, invalidParams("params.ref names nothing that is here")
	}
	params := mcp.SetMember(x.msg.Params, "ref", mcp.SetMember(ref, key, mcp.Quote(own)))
	return x.ask(ctx, server, "completion/complete", params)
}
