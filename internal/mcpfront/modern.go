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

// isModern tells the era of a message. A version that nobody has heard of is
// of the era in which each message names its own.
func isModern(h http.Header, m jsonrpc.Message) bool {
	if member(member(m.Params, "_meta"), mcp.MetaVersion) != nil {
		return true
	}
	version := h.Get(mcp.VersionHeader)
	return version != "" && !mcp.IsLegacy(version)
}

// postModern answers a message of 2026-07-28.
func (f *Front) postModern(w http.ResponseWriter, r *http.Request, at Place, target string, m jsonrpc.Message) error {
	switch {
	case m.IsNotification():
		w.WriteHeader(http.StatusAccepted)
		return nil
	case m.IsResponse():
		writeRPC(w, http.StatusBadRequest, m.ID, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "nothing was asked: answers go into inputResponses of a retry"})
		return nil
	}
	if problem := checkModern(r.Header, m); problem != nil {
		writeRPC(w, http.StatusBadRequest, m.ID, problem)
		return nil
	}
	seat, err := f.seat(r.Context(), at)
	if err != nil {
		return err
	}
	seat.hold()
	defer seat.release()
	meta := member(m.Params, "_meta")
	version, _ := parley.MemberString(meta, mcp.MetaVersion)
	c := &caller{seat: seat, place: at, target: target, version: version, caps: usable(member(meta, mcp.MetaClientCapabilities))}
	x := &exchange{caller: c, front: f, msg: m, w: w, http: r.Context(), out: newOutlet("")}
	if x.lookUp() == nil {
		writeRPC(w, http.StatusNotFound, m.ID, methodNotFound(m.Method))
		return nil
	}
	if problem := x.checkParams(r.Context(), r.Header); problem != nil {
		writeRPC(w, http.StatusBadRequest, m.ID, problem)
		return nil
	}
	// To hang up is to cancel, in this era.
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	defer context.AfterFunc(f.ctx, func() { cancel(errSessionEnded) })()
	result, err := x.run(ctx)
	if err == nil {
		result = mcp.AddMember(result, "resultType", jsontext.Value(`"complete"`))
	}
	x.finish(encodeAnswer(m.ID, result, err), statusOf(err))
	return nil
}

// checkModern holds what a request says of itself against its headers.
func checkModern(h http.Header, m jsonrpc.Message) *jsonrpc.Error {
	meta := member(m.Params, "_meta")
	version, ok := parley.MemberString(meta, mcp.MetaVersion)
	switch {
	case !ok:
		return invalidParams("_meta has no " + mcp.MetaVersion)
	case member(meta, mcp.MetaClientCapabilities).Kind() != '{':
		return invalidParams("_meta has no " + mcp.MetaClientCapabilities)
	case only(h, mcp.VersionHeader) != version:
		return headerMismatch("the header " + mcp.VersionHeader + " says " + said(h, mcp.VersionHeader) + ", _meta says " + clip(quoted(version)))
	case version != mcp.Modern:
		return unsupported(version)
	case h.Get(mcp.SessionHeader) != "":
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "a request of " + version + " has no " + mcp.SessionHeader + ": one client speaks one era at a time"}
	case only(h, mcp.MethodHeader) != m.Method:
		return headerMismatch("the header " + mcp.MethodHeader + " says " + said(h, mcp.MethodHeader) + ", the body says " + clip(quoted(m.Method)))
	}
	if name, has := mcp.NameOf(m.Method, m.Params); has && !headerSays(h, mcp.NameHeader, name) {
		return headerMismatch("the header " + mcp.NameHeader + " says " + said(h, mcp.NameHeader) + ", the params say " + clip(quoted(name)))
	}
	return nil
}

// only is a header's value, "" where there are several: one reader would take
// the first, another the last.
func only(h http.Header, name string) string {
	if values := h.Values(name); len(values) == 1 {
		return strings.TrimSpace(values[0])
	}
	return ""
}

// headerSays reports whether a header has a value, plainly or in base64 as
// 2026-07-28 lets it.
func headerSays(h http.Header, name, want string) bool {
	values := h.Values(name)
	if len(values) != 1 {
		return false
	}
	got, ok := mcp.DecodeHeader(strings.TrimSpace(values[0]))
	return ok && got == want
}

func said(h http.Header, name string) string { return clip(quoted(strings.Join(h.Values(name), ", "))) }

func quoted(s string) string { return string(mcp.Quote(s)) }

// unsupported names the versions that are spoken, as the specification asks.
func unsupported(version string) *jsonrpc.Error {
	data := append(jsontext.Value(`{"supported":["`), mcp.Modern...)
	data = append(append(append(data, `"],"requested":`...), mcp.Quote(version)...), '}')
	return &jsonrpc.Error{Code: mcp.CodeUnsupportedVersion, Message: "unsupported protocol version", Data: data}
}

// statusOf is the HTTP status of an answer (2026-07-28).
func statusOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	switch rpcError(err).Code {
	case jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	case jsonrpc.CodeInvalidParams, mcp.CodeHeaderMismatch, mcp.CodeMissingCapability, mcp.CodeUnsupportedVersion:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// usable are the capabilities of a client if there are any that a server could
// make use of; else nil, so that clients that differ in nothing share a session.
func usable(caps jsontext.Value) jsontext.Value {
	for _, name := range []string{"sampling", "elicitation", "roots"} {
		if member(caps, name).Kind() == '{' {
			return slices.Clone(caps)
		}
	}
	return nil
}

// checkParams holds the Mcp-Param headers of a tool call against its arguments,
// where the tool's schema asks for them.
func (x *exchange) checkParams(ctx context.Context, h http.Header) *jsonrpc.Error {
	if x.msg.Method != "tools/call" {
		return nil
	}
	name, _ := parley.MemberString(x.msg.Params, "name")
	for _, server := range x.servers() {
		if x.target == "" && !couldBe(name, server) {
			continue
		}
		offer, err := x.offer(ctx, server)
		if err != nil {
			continue // the call itself will tell
		}
		if e := offer.find(server, sectionTools, name, x.target == ""); e != nil {
			return checkHeaders(h, e.headers, member(x.msg.Params, "arguments"))
		}
	}
	return nil
}

func checkHeaders(h http.Header, list []mcp.ParamHeader, arguments jsontext.Value) *jsonrpc.Error {
	for _, p := range list {
		want, has := p.Text(arguments)
		switch {
		case !has && len(h.Values(p.Header)) > 0:
			return headerMismatch("the header " + p.Header + " stands for an argument that is not there")
		case has && !headerSays(h, p.Header, want):
			return headerMismatch("the header " + p.Header + " does not say what the argument " + strings.Join(p.Path, ".") + " does")
		}
	}
	return nil
}
