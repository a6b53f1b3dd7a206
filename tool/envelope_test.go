package tool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type extractInput struct {
	Path string `json:"path"`
}

type extractOutput struct {
	Code  string `json:"code"`
	Lines int    `json:"lines"`
}

// extract reads files of a folder that is empty.
func extract(_ context.Context, _ *Call, in extractInput) (out extractOutput, err error) {
	return out, Errorf(NotFound, "File not found: %s", in.Path)
}

func addSeed(s *Server) {
	Add(s, Tool{Name: "security_scan", Version: "3.3.0"}, scan)
	Add(s, Tool{Name: "extract_code", Version: "3.3.0"}, extract)
}

// The four examples of the document that the envelope comes from, byte for byte
// but for white space.
func TestExamplesOfTheDocument(t *testing.T) {
	debug := func(name string) string {
		return map[string]string{"SCALPEL_MCP_INFO": "DEBUG"}[name]
	}
	for _, c := range []struct {
		name, tool string
		opts       Options
		args       args
		isError    bool
		want       string
	}{
		{"successful response, minimal profile", "security_scan", Options{Tier: Pro}, args{"path": "a.py"}, false, `{
			"data": {
			  "risk_level": "high",
			  "vulnerabilities": []
			}
		  }`},
		{"successful response, debug mode", "security_scan", Options{Tier: Pro, Getenv: debug}, args{"path": "a.py"}, false, `{
			"tier": "pro",
			"tool_version": "3.3.0",
			"tool_id": "security_scan",
			"request_id": "8b3e5f6c0a2f4ed4a3fb9e0b2f8f8d3a",
			"capabilities": ["envelope-v1"],
			"duration_ms": 27,
			"error": null,
			"upgrade_hints": [],
			"data": {
			  "risk_level": "high",
			  "vulnerabilities": []
			}
		  }`},
		{"error response, minimal profile", "extract_code", Options{Tier: Community}, args{"path": "/missing.py"}, true, `{
			"error": {
			  "error": "File not found: /missing.py",
			  "error_code": "not_found"
			}
		  }`},
		{"error response, debug mode", "extract_code", Options{Tier: Community, Getenv: debug}, args{"path": "/missing.py"}, true, `{
			"tier": "community",
			"tool_version": "3.3.0",
			"tool_id": "extract_code",
			"request_id": "8b3e5f6c0a2f4ed4a3fb9e0b2f8f8d3a",
			"capabilities": ["envelope-v1"],
			"duration_ms": 27,
			"error": {
			  "error": "File not found: /missing.py",
			  "error_code": "not_found",
			  "error_details": null
			},
			"upgrade_hints": [],
			"data": null
		  }`},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := jsontext.Value(c.want)
			if err := want.Compact(); err != nil {
				t.Fatal(err)
			}
			r := newRoom(t, c.opts, addSeed)
			got, isError := r.call(c.tool, c.args)
			if got != string(want) || isError != c.isError {
				t.Errorf("isError %v\n got %s\nwant %s", isError, got, want)
			}
		})
	}
}

type probeInput struct {
	Fail string `json:"fail,omitempty" enum:"no,plain,rich,low,fault"`
}

type probeOutput struct {
	List  []string       `json:"list"`
	Map   map[string]int `json:"map"`
	Text  string         `json:"text"`
	Extra *int           `json:"extra"`
}

func probe(_ context.Context, call *Call, in probeInput) (probeOutput, error) {
	switch in.Fail {
	case "plain":
		return probeOutput{}, Errorf(TooLarge, "too large")
	case "rich":
		return probeOutput{}, Errorf(NotFound, "no such symbol").WithDetails(args{"near": []string{"b"}}).WithData(args{"read": 2, "list": []int{}})
	case "low":
		call.Hint("deep") // which Require says again
		return probeOutput{}, call.Require("deep", "wide", "plain")
	case "fault":
		return probeOutput{}, fmt.Errorf("disk /dev/sda is on fire")
	}
	call.Hint("deep", "plain")
	return probeOutput{Text: "t"}, nil
}

func addProbe(s *Server) {
	Add(s, Tool{
		Name: "probe", Version: "1.0.0", Capabilities: []string{"probing"},
		Features: []Feature{{"plain", Community, ""}, {"deep", Pro, ""}, {"wide", Enterprise, "looks into other files"}},
	}, probe)
}

// Profile × success and error × override × tier, as whole documents.
func TestDocuments(t *testing.T) {
	const (
		id    = `"request_id":"8b3e5f6c0a2f4ed4a3fb9e0b2f8f8d3a"`
		full  = `"data":{"list":[],"map":{},"text":"t","extra":null}`
		deep  = `{"feature":"deep","tier":"pro","reason":"deep needs the pro tier"}`
		wide  = `{"feature":"wide","tier":"enterprise","reason":"looks into other files"}`
		plain = `"error":{"error":"too large","error_code":"too_large"}`
		rich  = `"error":{"error":"no such symbol","error_code":"not_found","error_details":{"near":["b"]}}`
		some  = `"data":{"list":[],"read":2}`
		fault = `"error":{"error":"internal error","error_code":"internal_error"}`
	)
	meta := func(tier Tier) string {
		return `"tier":"` + string(tier) + `","tool_version":"1.0.0","tool_id":"probe",` + id + `,"capabilities":["envelope-v1","probing"],"duration_ms":27`
	}
	needed := func(text string) string {
		return `"error":{"error":"` + text + `","error_code":"upgrade_required"}`
	}
	for _, c := range []struct {
		config string
		tier   Tier
		fail   string
		want   string
	}{
		{`{}`, Enterprise, "no", `{` + full + `}`},
		{`{}`, Pro, "no", `{` + full + `}`},
		{`{}`, Community, "no", `{"upgrade_hints":[` + deep + `],` + full + `}`},
		{`{}`, Pro, "plain", `{` + plain + `}`},
		{`{}`, Pro, "rich", `{` + rich + `,` + some + `}`},
		{`{}`, Pro, "fault", `{` + fault + `}`},
		{`{}`, Enterprise, "low", `{"data":{"list":[],"map":{},"text":"","extra":null}}`},
		{`{}`, Pro, "low", `{` + needed("wide: the enterprise tier is needed, this is pro") + `,"upgrade_hints":[` + wide + `]}`},
		{`{}`, Community, "low", `{` + needed("deep, wide: the enterprise tier is needed, this is community") + `,"upgrade_hints":[` + deep + `,` + wide + `]}`},

		{`{"global":{"profile":"standard"}}`, Pro, "no", `{"tool_id":"probe",` + full + `}`},
		{`{"global":{"profile":"standard"}}`, Pro, "plain", `{"tool_id":"probe",` + plain + `}`},
		{`{"global":{"profile":"verbose"}}`, Pro, "no", `{"tool_version":"1.0.0","tool_id":"probe","duration_ms":27,` + full + `}`},
		{`{"global":{"profile":"verbose"}}`, Community, "plain", `{"tool_version":"1.0.0","tool_id":"probe","duration_ms":27,` + plain + `}`},
		{`{"global":{"profile":"debug"}}`, Pro, "no", `{` + meta(Pro) + `,"error":null,"upgrade_hints":[],` + full + `}`},
		{`{"global":{"profile":"debug"}}`, Community, "no", `{` + meta(Community) + `,"error":null,"upgrade_hints":[` + deep + `],` + full + `}`},
		{`{"global":{"profile":"debug"}}`, Pro, "rich", `{` + meta(Pro) + `,` + rich + `,"upgrade_hints":[],` + some + `}`},
		{`{"global":{"profile":"debug"}}`, Pro, "fault", `{` + meta(Pro) +
			`,"error":{"error":"disk /dev/sda is on fire","error_code":"internal_error","error_details":null},"upgrade_hints":[],"data":null}`},

		// The overrides reach the tool's answers.
		{`{"tool_overrides":{"probe":{"profile":"standard","include_only":["text","list"],"exclude_fields":["list"]}}}`, Pro, "no", `{"tool_id":"probe","data":{"text":"t"}}`},
		{`{"tool_overrides":{"other":{"profile":"debug"}}}`, Pro, "no", `{` + full + `}`},
		{`{"tool_overrides":{"probe":{"include_only":["text"],"include_on_error":["read"]}}}`, Pro, "rich", `{` + rich + `,"data":{"read":2}}`},
		{`{"tool_overrides":{"probe":{"exclude_when_tier":{"community":["map","extra"]}}}}`, Community, "no", `{"upgrade_hints":[` + deep + `],"data":{"list":[],"text":"t"}}`},
		{`{"tool_overrides":{"probe":{"exclude_when_tier":{"community":["map","extra"]}}}}`, Pro, "no", `{` + full + `}`},
		{`{"global":{"exclude_empty_arrays":true,"exclude_empty_objects":true,"exclude_null_values":true}}`, Pro, "no", `{"data":{"text":"t"}}`},
	} {
		t.Run(strings.Join([]string{c.config, string(c.tier), c.fail}, " "), func(t *testing.T) {
			r := newRoom(t, Options{Tier: c.tier, ResponseConfig: configuration(t, c.config)}, addProbe)
			r.want("probe", args{"fail": c.fail}, c.want)
			r.fits(r.ask(&mcp.CallToolParams{Name: "probe", Arguments: args{"fail": c.fail}}))
		})
	}
}

// fits holds a result against the schema that the client was given.
func (r *room) fits(res *mcp.CallToolResult) {
	r.t.Helper()
	list, err := r.client.ListTools(r.t.Context(), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := schema.UnmarshalJSON(asJSON(r.t, list.Tools[0].OutputSchema)); err != nil {
		r.t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := resolved.Validate(res.StructuredContent); err != nil {
		r.t.Errorf("%s: %v", asJSON(r.t, res.StructuredContent), err)
	}
}

// A changed profile changes no tool's definition.
func TestDefinitionIsTheSameInAllProfiles(t *testing.T) {
	definitions := map[string]bool{}
	for _, profile := range []string{"minimal", "standard", "verbose", "debug"} {
		for _, tier := range tiers {
			config := configuration(t, `{"global":{"profile":"`+profile+`"},"tool_overrides":{"probe":{"include_only":["text"]}}}`)
			r := newRoom(t, Options{Tier: tier, ResponseConfig: config}, addProbe)
			list, err := r.client.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			definitions[string(asJSON(t, list.Tools))] = true
		}
	}
	if len(definitions) != 1 {
		t.Errorf("%d definitions: %v", len(definitions), definitions)
	}
}

// A file that appears, changes, spoils, is mended and goes away is seen by the
// calls that follow.
func TestReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "response_config.json")
		r := newRoom(t, Options{Tier: Pro, ResponseConfig: path}, addSeed)
		const data = `"data":{"risk_level":"high","vulnerabilities":[]}}`
		for _, step := range []struct{ file, want string }{
			{"", `{` + data},
			{`{"global": {"profile": "standard"}}`, `{"tool_id":"security_scan",` + data},
			{`{"global": {"profile": "verbose"}} // and more`, `{"tool_version":"3.3.0","tool_id":"security_scan","duration_ms":27,` + data},
			{`{"global": {"profil": "minimal"}}`, `{"tool_version":"3.3.0","tool_id":"security_scan","duration_ms":27,` + data},
			{`{"tool_overrides": {"security_scan": {"exclude_fields": ["vulnerabilities"]}}}`, `{"data":{"risk_level":"high"}}`},
			{"", `{` + data},
		} {
			if step.file == "" {
				os.Remove(path)
			} else if err := os.WriteFile(path, []byte(step.file), 0o600); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second) // of the bubble's clock: files are looked at ten times a second
			r.want("security_scan", args{"path": "a.py"}, step.want)
		}
		if log := r.log.String(); !strings.Contains(log, "profil") || !strings.Contains(log, "1:13") {
			t.Errorf("the log does not say what was wrong:\n%s", log)
		}
	})
}
