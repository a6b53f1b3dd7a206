package mcpbridge

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// service is what a server's request needs somebody to be able to, by the name
// of the capability that declares it.
func service(method string) string {
	switch method {
	case "sampling/createMessage":
		return "sampling"
	case "elicitation/create":
		return "elicitation"
	case "roots/list":
		return "roots"
	}
	return ""
}

// need is what a server's request takes of whoever answers it.
type need struct {
	service string // as a capability is called
	tools   bool   // a model that is offered tools
}

// needOf is what a request needs. Who does not know of tools would answer as if
// none had been offered, or a choice that was demanded were none.
func needOf(method string, params jsontext.Value) need {
	n := need{service: service(method)}
	n.tools = n.service == "sampling" && (parley.Member(params, "tools") != nil || parley.Member(params, "toolChoice") != nil)
	return n
}

// metBy says whether somebody who declares this can answer.
func (n need) metBy(declared jsontext.Value) bool {
	can := parley.Member(declared, n.service)
	return can.Kind() == '{' && (!n.tools || parley.Member(can, "tools").Kind() == '{')
}

// nobody is the error of what neither the caller, who declares this, nor anybody
// else answers: why says who that would have been. A caller that takes no tools is
// told of as MCP has it, since the request is what it could not answer.
func (n need) nobody(declared jsontext.Value, why string) *jsonrpc.Error {
	if n.tools && parley.Member(declared, n.service).Kind() == '{' {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the request offers tools, the caller declared sampling without sampling.tools, and " + why}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("the caller did not declare %s, and %s", n.service, why)}
}

// maxCapabilities bounds what a caller may declare, in bytes.
const maxCapabilities = 16 << 10

// checkDeclared takes what a caller declares, nil where that is nothing. Roots
// count where they are wanted.
func checkDeclared(declared jsontext.Value, roots bool) (jsontext.Value, error) {
	switch {
	case declared == nil:
		return nil, nil
	case declared.Kind() != '{' || len(declared) > maxCapabilities:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the client's capabilities are no object, or too long"}
	case roots:
		return declared, nil
	}
	return mcp.DropMember(declared, "roots"), nil
}

// askable is that part of what a caller declares for which a server could ask
// it something; nil where there is none.
func askable(declared jsontext.Value) jsontext.Value {
	var out jsontext.Value
	for _, name := range []string{"elicitation", "roots", "sampling"} {
		if v := parley.Member(declared, name); v != nil && v.Kind() == '{' {
			if out == nil {
				out = jsontext.Value(`{}`)
			}
			out = mcp.SetMember(out, name, v)
		}
	}
	return out
}

// withServed adds what others in the room answer for a caller that cannot. Who
// serves sampling takes tools.
func withServed(declared jsontext.Value, serves map[string][]string) jsontext.Value {
	if declared == nil {
		declared = jsontext.Value(`{}`)
	}
	if len(serves["elicitation"]) > 0 {
		declared = mcp.AddMember(declared, "elicitation", jsontext.Value(`{}`))
	}
	if len(serves["sampling"]) > 0 {
		own := parley.Member(declared, "sampling")
		if own.Kind() != '{' {
			own = jsontext.Value(`{}`)
		}
		declared = mcp.SetMember(declared, "sampling", mcp.AddMember(own, "tools", jsontext.Value(`{}`)))
	}
	return declared
}
