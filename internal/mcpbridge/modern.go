package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// errFrightened is about a program that ended when it was asked for its era:
// some that know initialize alone do. It has to be started again.
var errFrightened = errors.New("the program ended when it was asked for its era")

// discover asks for the era, and says whether it is the modern one. Only
// supportedVersions counts: some servers answer whatever comes first. An error
// means that there is nobody to go on with.
func (u *Upstream) discover(ctx context.Context) (modern bool, err error) {
	asking, cancel := context.WithTimeoutCause(ctx, u.opts.curiosity(), errPatience)
	defer cancel()
	u.modern.Store(true)
	result, err := u.Call(asking, "server/discover", nil, nil)
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err == nil && speaksModern(result):
		u.info = Info{Version: mcp.Modern, Raw: result}
		u.link.negotiated(mcp.Modern)
		u.start(u.listen)
		return true, nil
	}
	u.modern.Store(false)
	gone := u.reason()
	if _, program := u.link.(*stdio); program && gone != nil {
		return false, errFrightened
	}
	return false, gone
}

func speaksModern(discovered jsontext.Value) bool {
	for v := range parley.Elements(parley.Member(discovered, "supportedVersions")) {
		if string(v) == `"`+mcp.Modern+`"` {
			return true
		}
	}
	return false
}

// fit makes params fit for the era that the server speaks, and says which
// headers go with them over HTTP. What is no object comes back as it was.
func (u *Upstream) fit(method string, params jsontext.Value) (jsontext.Value, http.Header) {
	if !u.modern.Load() {
		return withoutModern(params), nil
	}
	if params == nil {
		params = jsontext.Value(`{}`)
	}
	meta := parley.Member(params, "_meta")
	if meta.Kind() != '{' {
		meta = jsontext.Value(`{}`)
	}
	meta = mcp.SetMember(meta, mcp.MetaVersion, modernVersion)
	meta = mcp.SetMember(meta, mcp.MetaClientInfo, u.opts.clientInfo())
	meta = mcp.AddMember(meta, mcp.MetaClientCapabilities, u.opts.capabilities())
	out := mcp.SetMember(params, "_meta", meta)
	if _, overHTTP := u.link.(*streamable); !overHTTP {
		return out, nil
	}
	return out, u.headers(method, out)
}

var modernVersion = mcp.Quote(mcp.Modern)

// metaOf is one member of params._meta, or nil.
func metaOf(params jsontext.Value, key string) jsontext.Value {
	return parley.Member(parley.Member(params, "_meta"), key)
}

// withoutModern takes out of _meta what only a modern server understands, and
// _meta itself where nothing else was in it.
func withoutModern(params jsontext.Value) jsontext.Value {
	meta := parley.Member(params, "_meta")
	if meta.Kind() != '{' {
		return params
	}
	left := meta
	for _, key := range []string{mcp.MetaVersion, mcp.MetaClientInfo, mcp.MetaClientCapabilities, mcp.MetaLogLevel} {
		left = mcp.DropMember(left, key)
	}
	switch {
	case len(left) == len(meta):
		return params
	case len(left) == 2:
		return mcp.DropMember(params, "_meta")
	}
	return mcp.SetMember(params, "_meta", left)
}

// judge refuses a result of a kind that we do not know.
func (u *Upstream) judge(method string, result jsontext.Value) error {
	if !u.modern.Load() {
		return nil
	}
	kind := parley.Member(result, "resultType")
	switch string(kind) {
	case "", `"complete"`:
		return nil
	case `"` + mcp.InputRequired + `"`:
		if mayAskBack(method) {
			return nil
		}
	}
	return fmt.Errorf("%w: its resultType is %s", ErrBadAnswer, clip(kind))
}

// mayAskBack tells the methods that can be answered with input_required.
func mayAskBack(method string) bool {
	return method == "tools/call" || method == "prompts/get" || method == "resources/read"
}

// headers mirror a request for whoever reads no bodies.
func (u *Upstream) headers(method string, params jsontext.Value) http.Header {
	h := http.Header{}
	h.Set(mcp.VersionHeader, mcp.Modern)
	h.Set(mcp.MethodHeader, mcp.EncodeHeader(method))
	name, has := mcp.NameOf(method, params)
	if has {
		h.Set(mcp.NameHeader, mcp.EncodeHeader(name))
	}
	if heads := u.heads.Load(); method == "tools/call" && heads != nil {
		for _, p := range (*heads)[name] {
			if text, ok := p.Text(parley.Member(params, "arguments")); ok {
				h.Set(p.Header, mcp.EncodeHeader(text))
			}
		}
	}
	return h
}

// learn notes what the tools of a list want to have in headers.
func (u *Upstream) learn(tools []jsontext.Value) {
	heads := map[string][]mcp.ParamHeader{}
	for _, tool := range tools {
		if found := mcp.ParamHeaders(tool); len(found) > 0 {
			name, _ := parley.MemberString(tool, "name")
			heads[name] = found
		}
	}
	u.heads.Store(&heads)
}

// headerMismatch tells a refusal for headers that were not what the server
// expected of them; it has not looked at the call.
func headerMismatch(err error) bool {
	rpc, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && rpc.Code == mcp.CodeHeaderMismatch
}
