package tool

import (
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// allAbilities are all abilities; each is a bit of abilities.
var allAbilities = [...]Ability{Sampling, SamplingTools, Elicitation}

// abilities are what somebody can do.
type abilities uint8

func (s abilities) has(a Ability) bool {
	i := slices.Index(allAbilities[:], a)
	return i >= 0 && s&(1<<i) != 0
}

// abilitiesOf are those that a client declares.
func abilitiesOf(c *mcp.ClientCapabilities) (s abilities) {
	for i, a := range allAbilities {
		if c != nil && declares(c, a) {
			s |= 1 << i
		}
	}
	return s
}

func declares(c *mcp.ClientCapabilities, a Ability) bool {
	switch a {
	case Sampling:
		//lint:ignore SA1019 what MCP retires is what clients of today have
		return c.Sampling != nil
	case SamplingTools:
		//lint:ignore SA1019 what MCP retires is what clients of today have
		return c.Sampling != nil && c.Sampling.Tools != nil
	}
	// One that names no mode has forms.
	return c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}
