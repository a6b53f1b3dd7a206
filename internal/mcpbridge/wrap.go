package mcpbridge

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/mcp"
	"github.com/parleyhq/parley/internal/response"
)

// answered is what a caller gets of a result. Where the bridge wraps, what a
// tool answered comes in the envelope of package response. What an answer took
// is counted in any case.
//
// Only what a call ends with is wrapped: a question to the caller and the
// beginning of a task are no answers yet.
func (a *attendance) answered(f *flight, began time.Time, result jsontext.Value) jsontext.Value {
	switch method := f.req.Kind.Method; {
	case method == "tools/list" && a.b.join.Wrap != nil:
		return wrapList(result)
	case method != toolsCall || !isAnswer(result):
		return result
	}
	// A server that was not to be wrapped says what it likes, and is counted. One
	// that is wrapped promises envelopes to its callers, so its word is not enough.
	used, told := ReadUsage(result)
	if told && (a.b.join.Wrap == nil || inEnvelope(parley.Member(result, "structuredContent"))) {
		a.b.join.Metrics.answer(f.tool(), f.peer, used.ofTheirs())
		return result
	}
	apart := takeApart(result)
	if a.b.join.Wrap == nil || apart == nil {
		return result
	}
	return a.wrap(f, began, apart.answer(f.tool(), versionOf(a.base.up.Info())), result, apart)
}

// inEnvelope says whether structured content has what an envelope has, and
// nothing else.
func inEnvelope(structured jsontext.Value) bool {
	if parley.Member(structured, "data") == nil && parley.Member(structured, "error").Kind() != '{' {
		return false
	}
	for name := range parley.Members(structured) {
		if !slices.Contains(envelopeMembers(), name) {
			return false
		}
	}
	return true
}

const toolsCall = "tools/call"

// tool is which tool is called.
func (f *flight) tool() string {
	name, _ := parley.MemberString(f.req.Params, "name")
	return name
}

// wrap puts an answer into a result that was taken apart.
func (a *attendance) wrap(f *flight, began time.Time, answer *response.Answer, result jsontext.Value, apart *theirs) jsontext.Value {
	if answer.RequestID, answer.Asked = givenID(f); !answer.Asked {
		answer.RequestID = f.req.Envelope.ID
	}
	answer.Duration = time.Since(began)
	w := wrapping{
		shape:  a.b.join.Wrap.Config().Shape(answer.Tool, answer.Tier),
		answer: answer,
		room:   f.req.Room().Welcome().Space.Limits,
	}
	result, used := w.result(result, apart)
	a.b.join.Metrics.answer(answer.Tool, f.peer, used)
	return result
}

// refused answers a call that could not be answered as its caller wants to,
// before the server hears of it; nil where it can.
func (a *attendance) refused(f *flight, began time.Time) jsontext.Value {
	given := parley.Member(f.meta, "request_id")
	if _, ok := givenID(f); ok || given == nil || given.Kind() == 'n' || a.b.join.Wrap == nil || f.req.Kind.Method != toolsCall {
		return nil
	}
	apart := &theirs{failed: true}
	answer := apart.answer(f.tool(), versionOf(a.base.up.Info()))
	answer.Error = &response.Error{
		Code:    response.InvalidArgument,
		Message: fmt.Sprintf("_meta.request_id is not a string of 1 to %d bytes without control characters", response.MaxRequestID),
	}
	return a.wrap(f, began, answer, jsontext.Value(`{"isError":true}`), apart)
}

// isAnswer tells a result that ends a call from one that does not.
func isAnswer(result jsontext.Value) bool {
	if kind := parley.Member(result, "resultType"); kind != nil && string(kind) != `"complete"` {
		return false
	}
	return parley.Member(result, "task") == nil
}

// maxVersion is how much of a server's version is told, in bytes. It is told in
// every answer, and remembered with what answers of a kind cost.
const maxVersion = 128

// versionOf is the version that a server says it has.
func versionOf(info Info) string {
	self := parley.Member(info.Raw, "serverInfo")
	if self == nil {
		self = parley.Member(parley.Member(info.Raw, "_meta"), mcp.MetaServerInfo)
	}
	version, _ := parley.MemberString(self, "version")
	return strings.ToValidUTF8(version[:min(len(version), maxVersion)], "")
}

// givenID is the caller's name for the call, where it gave one that can be
// repeated.
func givenID(f *flight) (id string, ok bool) {
	id, ok = parley.MemberString(f.meta, "request_id")
	return id, ok && id != "" && len(id) <= response.MaxRequestID && !strings.ContainsFunc(id, unicode.IsControl)
}
