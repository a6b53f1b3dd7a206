package mcpbridge

import (
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

// withServed adds what others in the room answer for a caller that cannot.
func withServed(declared jsontext.Value, serves map[string][]string) jsontext.Value {
	if declared == nil {
		declared = jsontext.Value(`{}`)
	}
	for _, name := range []string{"elicitation", "sampling"} {
		if len(serves[name]) > 0 {
			declared = mcp.AddMember(declared, name, jsontext.Value(`{}`))
		}
	}
	return declared
}
