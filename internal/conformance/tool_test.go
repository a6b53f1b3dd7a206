package conformance

import (
	"fmt"
	"strings"
	"testing"
)

// Reasons why a scenario is none for servers that are written with package tool.
const (
	toolsOnly   = "it has tools, and nothing else that MCP knows"
	enveloped   = "what its tools answer comes in one envelope"
	typed       = "what its tools take is made from Go types"
	noRoots     = "its tools ask models and humans, not for folders"
	saysPrompts = "the SDK answers prompts/list of a server that has none"
)

// beyondTools is what such a server has no part in. All else of the suite it has.
var beyondTools = map[string]string{
	"completion-complete":                           toolsOnly,
	"input-required-result-basic-list-roots":        noRoots,
	"input-required-result-multiple-input-requests": noRoots,
	"input-required-result-non-tool-request":        toolsOnly,
	"http-custom-header-server-validation":          typed,
	"json-schema-2020-12":                           typed,
	"prompts-get-embedded-resource":                 toolsOnly,
	"prompts-get-simple":                            toolsOnly,
	"prompts-get-with-args":                         toolsOnly,
	"prompts-get-with-image":                        toolsOnly,
	"resources-read-binary":                         toolsOnly,
	"resources-read-text":                           toolsOnly,
	"resources-subscribe":                           toolsOnly,
	"resources-templates-read":                      toolsOnly,
	"resources-unsubscribe":                         toolsOnly,
	"server-stateless":                              saysPrompts,
	"tools-call-audio":                              enveloped,
	"tools-call-embedded-resource":                  enveloped,
	"tools-call-image":                              enveloped,
	"tools-call-mixed-content":                      enveloped,
	"tools-call-simple-text":                        enveloped,
}

// toolWays lead to a server that is written with package tool: directly, and
// through a room that speaks to it in the client's era, or in the other one.
var toolWays = map[string]func(t *testing.T, version string) string{
	"direct":  func(t *testing.T, _ string) string { return toolServer(t) },
	"room":    toolInRoom,
	"crossed": func(t *testing.T, version string) string { return toolInRoom(t, otherEra[version]) },
}

func toolInRoom(t *testing.T, version string) string {
	url := toolServer(t)
	answers(t, url, version, toolServerName)
	return room(t, fmt.Sprintf("{url: %q, era: %s}", url, era(version)))
}

// A server that is written with package tool does all that the suite wants of
// sampling, elicitation and calls of several rounds, in both eras: one tool is
// asked for in each way, and asks back in each.
func TestToolConformance(t *testing.T) {
	results := newTable(t, "version", "way", "scored", "others", "not its part")
	for version := range required {
		for way, open := range toolWays {
			t.Run(version+"/"+way, func(t *testing.T) {
				t.Parallel()
				url := open(t, version)
				answers(t, url, version, toolServerName)
				o := runSuite(t, url, version)
				judgeTools(t, version, way, o)
				scored, others := count(o.scenarios)
				results.add(version, way, scored.String(), others.String(), strings.Join(failed(o), ", "))
			})
		}
	}
}

// judgeTools fails the test where what failed is anything but what is none of
// the server's part, or impossible.
func judgeTools(t *testing.T, version, way string, o outcome) {
	t.Helper()
	if scored, _ := count(o.scenarios); scored.run != required[version].scored {
		t.Errorf("%d scenarios were scored, want %d", scored.run, required[version].scored)
	}
	for _, s := range o.scenarios {
		reason := beyondTools[s.name]
		if way == "crossed" && version == modern && s.name == "input-required-result-basic-elicitation" {
			reason = namesKeys
		}
		switch {
		case s.unscored == "extension", !s.ok() && reason != "":
		case s.ok() && reason != "":
			t.Errorf("%s passed, though %s", s.name, reason)
		case !s.ok():
			t.Errorf("%s: %d checks failed\n    %s", s.name, s.failed, strings.Join(failures(t, o.dir, s.name), "\n    "))
		}
	}
}
