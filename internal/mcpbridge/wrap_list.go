package mcpbridge

import (
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/mcp"
	"github.com/parleyhq/parley/internal/response"
)

// wrapList is a result of tools/list with definitions as [wrapTool] makes them.
func wrapList(result jsontext.Value) jsontext.Value {
	tools := parley.Member(result, "tools")
	if tools.Kind() != '[' {
		return result
	}
	var list []jsontext.Value
	for tool := range parley.Elements(tools) {
		list = append(list, wrapTool(tool))
	}
	return mcp.SetMember(result, "tools", array(list))
}

// wrapTool is a tool's definition with the envelope for its output. One that has
// it already stays as it is.
func wrapTool(tool jsontext.Value) jsontext.Value {
	output := parley.Member(tool, "outputSchema")
	if tool.Kind() != '{' || isEnvelope(output) {
		return tool
	}
	return mcp.SetMember(tool, "outputSchema", envelopeSchema(output))
}

// isEnvelope says whether a schema knows every member of the envelope.
func isEnvelope(schema jsontext.Value) bool {
	theirs := parley.Member(schema, "properties")
	return !slices.ContainsFunc(envelopeMembers(), func(name string) bool { return parley.Member(theirs, name) == nil })
}

// envelopeMembers are the members that an envelope may have.
var envelopeMembers = sync.OnceValue(func() (names []string) {
	for name := range parley.Members(parley.Member(response.OutputSchema(nil), "properties")) {
		names = append(names, name)
	}
	return names
})

// isFailure is the JSON Schema of envelopes with an error.
const isFailure = `{"required":["error"],"properties":{"error":{"type":"object"}}}`

// envelopeSchema is the schema of what a tool with this output answers. What
// the tool says of a failure is no such output, so that it may be anything.
func envelopeSchema(output jsontext.Value) jsontext.Value {
	if output.Kind() != '{' {
		return response.OutputSchema(nil)
	}
	schema := response.OutputSchema(output)
	properties := parley.Member(schema, "properties")
	data := parley.Member(properties, "data")
	schema = mcp.SetMember(schema, "properties", mcp.SetMember(properties, "data", jsontext.Value(`{}`)))
	schema = mcp.SetMember(schema, "if", jsontext.Value(isFailure))
	success := mcp.SetMember(jsontext.Value(`{}`), "data", data)
	return mcp.SetMember(schema, "else", mcp.SetMember(jsontext.Value(`{}`), "properties", success))
}
