package tool

import (
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley/internal/response"
)

// usage is what an answer took and what its profile saved, for whoever adds
// them up. It stands in the result's _meta as usageKey.
type usage struct {
	Profile string `json:"profile"`
	Tokens  int    `json:"tokens"` // that the answer took
	Saved   int    `json:"saved"`  // that the debug profile would have taken more
}

const usageKey = "parley/response"

// count adds the usage to a result.
func (v *served) count(shape *response.Shape) {
	v.usage.Profile = shape.Profile()
	v.usage.Tokens, v.usage.Saved = shape.Estimate(&v.answer, v.body)
	v.result.Meta = mcp.Meta{usageKey: &v.usage}
}
