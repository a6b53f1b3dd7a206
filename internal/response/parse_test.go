package response

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonc"
)

// Each mistake is told with its place and, where a word is unknown, with the
// nearest that is known.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       string // LINE:COLUMN: MESSAGE | HINT, one for each problem
	}{
		{"nothing", " \n", "1:1: the file is empty | write {} for a configuration that changes nothing\n"},
		{"a comment alone", "// no", "1:6: the file ends in the middle of a value | a closing quote, bracket or comment end is missing\n"},
		{"not an object", "[]", "1:1: the configuration must be an object | \n"},
		{"more than one", "{} {}", "1:4: there is more after the end of the configuration | \n"},
		{"not JSON", "{\n  \"global\": }", "2:13: not valid JSON | look for a missing comma, colon or quote just before\n"},
		{"cut off", `{"global": {`, "1:13: the file ends in the middle of a value | a closing quote, bracket or comment end is missing\n"},
		{"not UTF-8", "{\"global\": {\"profile\": \"a\xff\"}}", "1:26: not valid JSON | look for a missing comma, colon or quote just before\n"},
		{"key", "{\n\t\"globl\": {}}", "2:2: unknown key \"globl\" | did you mean \"global\"?\n"},
		{"key in another spelling", `{"global": {"excludeEmptyArrays": true}}`, "1:13: unknown key \"excludeEmptyArrays\" | did you mean \"exclude_empty_arrays\"?\n"},
		{"key like none", `{"tool_overrides": {"t": {"zzzzzz": 1}}}`, "1:27: unknown key \"zzzzzz\" | known: description, exclude_fields, exclude_when_tier, include_on_error, include_only, profile\n"},
		{"profile", `{"global": {"profile": "minimum"}}`, "1:24: unknown profile \"minimum\" | did you mean \"minimal\"?\n"},
		{"profile of a tool", `{"profiles": {"mine": {}}, "tool_overrides": {"t": {"profile": "mime"}}}`, "1:64: unknown profile \"mime\" | did you mean \"mine\"?\n"},
		{"field", `{"profiles": {"mine": {"envelope": {"include": ["tier", "toolid"]}}}}`, "1:57: unknown field \"toolid\" | did you mean \"tool_id\"?\n"},
		{"tier", `{"tool_overrides": {"t": {"exclude_when_tier": {"por": []}}}}`, "1:49: unknown key \"por\" | did you mean \"pro\"?\n"},
		{"flag", `{"global": {"exclude_null_values": "yes"}}`, "1:36: exclude_null_values must be true or false | \n"},
		{"null", `{"global": null}`, "1:12: global must be an object | \n"},
		{"text", `{"global": {"profile": 1}}`, "1:24: profile must be a string | \n"},
		{"empty text", `{"global": {"profile": ""}}`, "1:24: profile must not be empty | \n"},
		{"list", `{"tool_overrides": {"t": {"include_only": "a"}}}`, "1:43: include_only must be a list of names | \n"},
		{"names in a list", `{"tool_overrides": {"t": {"include_only": [1, "", "a"]}}}`,
			"1:44: a name in include_only must be a string | \n1:47: a name in include_only must not be empty | \n"},
		{"nameless", `{"tool_overrides": {"": {}}, "profiles": {"": {}}}`,
			"1:21: a tool must have a name | \n1:43: a profile must have a name | \n"},
		{"twice", `{"global": {}, "global": {}}`, "1:16: \"global\" stands here twice | keep one of them\n"},
		{"less than debug", `{"profiles": {"debug": {"envelope": {"include": ["tier", "tool_id", "tool_version", "capabilities"]}}}}`,
			"1:38: the debug profile has every field: it cannot leave out request_id, duration_ms | make a profile of your own\n"},
		{"many at once, and where characters are wide", "{ // päng\n  \"global\": {\"profil\": 1},\n  /* ä */ \"tools\": 1,\n}",
			"2:14: unknown key \"profil\" | did you mean \"profile\"?\n3:11: unknown key \"tools\" | known: $schema, description, global, profiles, tool_overrides, version\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got strings.Builder
			problems := Check([]byte(c.text))
			for _, p := range problems {
				fmt.Fprintf(&got, "%d:%d: %s | %s\n", p.Line, p.Column, p.Message, p.Hint)
			}
			if got.String() != c.want {
				t.Fatalf("\n got %s\nwant %s", got.String(), c.want)
			}
			_, err := Parse("file.json", []byte(c.text))
			e, ok := errors.AsType[*parley.Error](err)
			if !ok || e.Code != parley.InvalidConfig {
				t.Fatalf("Parse says %v", err)
			}
			first := problems[0]
			if want := fmt.Sprintf("file.json:%d:%d: %s", first.Line, first.Column, first.Message); !strings.HasPrefix(e.Message, want) || e.Hint != first.Hint {
				t.Errorf("Parse says %q, hint %q; want %q first", e.Message, e.Hint, want)
			}
		})
	}
}

func TestSizesAreBounded(t *testing.T) {
	if got := Check(make([]byte, MaxFile+1)); len(got) != 1 || got[0].Message != "the file is larger than 1024 KiB" {
		t.Errorf("a large file: %v", got)
	}
	many := "{" + strings.Repeat(`"a":1,`, 50_000) + "}"
	if got := Check([]byte(many)); len(got) != maxProblems {
		t.Errorf("%d problems are told of a file with 100,000", len(got))
	}
	var wide strings.Builder
	for i := range 15_000 {
		fmt.Fprintf(&wide, `"p%038d": {},`, i)
	}
	wide.WriteString(`}, "tool_overrides": {`)
	for i := range 400 {
		fmt.Fprintf(&wide, `"t%d": {"profile": "there is none like it"},`, i)
	}
	got := Check([]byte(`{"profiles": {` + wide.String() + `}}`))
	if len(got) != maxProblems {
		t.Errorf("%d problems are told of a file with 400", len(got))
	}
	for _, p := range got {
		if !strings.HasPrefix(p.Message, "unknown profile") || len(p.Hint) > 50*maxKnown {
			t.Errorf("%s, and a hint of %d bytes", p.Message, len(p.Hint))
		}
	}
	deep := `{"_": ` + strings.Repeat("[", 300_000)
	if got := Check([]byte(deep)); len(got) != 1 {
		t.Errorf("deep nesting: %v", got)
	}
}

func TestWhatEditorsWriteIsRead(t *testing.T) {
	c, err := Parse("file.json", []byte("\ufeff{\r\n"+`  "$schema": "./response_config.schema.json", "version": "3.3.1", "description": "ours",
		"_comment": ["anything"],
		"global": {"profile": "mine", "_why": null,}, // trailing commas too
		"profiles": {"mine": {"description": "short", "_note": 1}},
		"tool_overrides": {"_comment": "not a tool", "t": {"description": "a tool", "_note": {}}}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	if c.Profile() != "mine" || !slices.Equal(c.Tools(), []string{"t"}) || !slices.Equal(c.Profiles(), []string{Debug, "mine", Minimal, Standard, Verbose}) {
		t.Errorf("profile %s, tools %v, profiles %v", c.Profile(), c.Tools(), c.Profiles())
	}
}

// keys are configurations in which one key makes a difference, by the key's
// path in the schema.
var keys = map[string]string{
	"global.profile":                              `{"global": {"profile": "standard"}}`,
	"global.exclude_empty_arrays":                 `{"global": {"exclude_empty_arrays": true}}`,
	"global.exclude_empty_objects":                `{"global": {"exclude_empty_objects": true}}`,
	"global.exclude_null_values":                  `{"global": {"exclude_null_values": true}}`,
	"global.exclude_default_values":               `{"global": {"exclude_default_values": true}}`,
	"profiles.envelope.include":                   `{"profiles": {"minimal": {"envelope": {"include": ["tier"]}}}}`,
	"profiles.common_exclusions":                  `{"profiles": {"minimal": {"common_exclusions": ["zero"]}}}`,
	"tool_overrides.profile":                      `{"tool_overrides": {"t": {"profile": "verbose"}}}`,
	"tool_overrides.include_only":                 `{"tool_overrides": {"t": {"include_only": ["zero"]}}}`,
	"tool_overrides.exclude_fields":               `{"tool_overrides": {"t": {"exclude_fields": ["zero"]}}}`,
	"tool_overrides.include_on_error":             `{"tool_overrides": {"t": {"exclude_fields": ["zero"], "include_on_error": ["zero"]}}}`,
	"tool_overrides.exclude_when_tier.community":  `{"tool_overrides": {"t": {"exclude_when_tier": {"community": ["zero"]}}}}`,
	"tool_overrides.exclude_when_tier.pro":        `{"tool_overrides": {"t": {"exclude_when_tier": {"pro": ["zero"]}}}}`,
	"tool_overrides.exclude_when_tier.enterprise": `{"tool_overrides": {"t": {"exclude_when_tier": {"enterprise": ["zero"]}}}}`,
	"$schema":                    "",
	"version":                    "",
	"description":                "",
	"profiles.description":       "",
	"tool_overrides.description": "",
}

// Every key of the schema has an effect, but for those that are notes.
func TestEveryKeyHasAnEffect(t *testing.T) {
	if got, want := slices.Sorted(maps.Keys(keys)), schemaKeys(t); !slices.Equal(got, want) {
		t.Fatalf("the schema has %q\nthe table %q", want, got)
	}
	// All envelopes of one tool: of a success and of an error, at each tier.
	all := func(c *Config) (sent []string) {
		a := Answer{Tool: "t", Version: "1", Data: jsontext.Value(`{"array":[],"object":{},"null":null,"zero":0}`)}
		for _, a.Error = range []*Error{nil, {Code: NotFound}} {
			for _, a.Tier = range tiers {
				sent = append(sent, string(c.Shape("t", a.Tier).Append(nil, &a)))
			}
		}
		return sent
	}
	for key, text := range keys {
		if text == "" {
			continue
		}
		without := "{}"
		if key == "tool_overrides.include_on_error" {
			without = `{"tool_overrides": {"t": {"exclude_fields": ["zero"]}}}`
		}
		if got, was := all(parsed(t, text)), all(parsed(t, without)); slices.Equal(got, was) {
			t.Errorf("%s changes nothing", key)
		}
	}
}

func parsed(t testing.TB, text string) *Config {
	t.Helper()
	c, err := Parse("file.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// schemaKeys are the keys of the schema that have values of their own; names
// that users choose are left out of their paths.
func schemaKeys(t *testing.T) []string {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	defs := root["$defs"].(map[string]any)
	found := map[string]bool{}
	var walk func(path string, s map[string]any)
	walk = func(path string, s map[string]any) {
		if ref, ok := s["$ref"].(string); ok {
			s = defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		}
		chosen, _ := s["patternProperties"].(map[string]any)
		if one, ok := chosen["^[^_]"].(map[string]any); ok {
			walk(path, one)
			return
		}
		properties, ok := s["properties"].(map[string]any)
		if !ok {
			found[path] = true
			return
		}
		for name, p := range properties {
			walk(strings.TrimPrefix(path+"."+name, "."), p.(map[string]any))
		}
	}
	walk("", root)
	return slices.Sorted(maps.Keys(found))
}

// What the schema refuses Parse refuses, and the other way round, but for what
// the schema cannot say.
func FuzzParse(f *testing.F) {
	schema := resolved(f, Schema())
	for _, text := range keys {
		f.Add([]byte(text))
	}
	for _, text := range []string{
		`{"global": null}`, `{"global": {"profile": "none"}}`, `{"profiles": {"": {}}}`, `{"profiles": {"debug": {"envelope": {"include": []}}}}`,
		`{"profiles": {"debug": {"envelope": {"include": ["tier","tool_version","tool_id","request_id","capabilities","duration_ms","error"]}}}}`,
		`{"profiles": {"debug": {"envelope": {"include": 1}}}}`, `{"profiles": {"_": 1, "x": 1}}`, `{"tool_overrides": {"t": {"exclude_when_tier": {"free": []}}}}`,
		`{"tool_overrides": {"t": {"include_only": [""]}}}`, `{"tool_overrides": {"t": {"include_only": [1]}}}`, `{"a":1,"a":2}`, "// c\n{,}", "[]", `{"description": ""}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		problems := Check(text)
		c, err := Parse("f", text)
		if (err == nil) != (len(problems) == 0) || (c == nil) != (err != nil) {
			t.Fatalf("Check says %v, Parse %v", problems, err)
		}
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 || p.Message == "" {
				t.Errorf("%+v has no place or no words", p)
			}
		}
		var value any
		if json.Unmarshal(jsonc.Plain(text), &value) != nil {
			if len(problems) == 0 {
				t.Error("what is not JSON was taken")
			}
			return
		}
		allowed := schema.Validate(value) == nil
		ours := slices.DeleteFunc(problems, func(p Problem) bool { return strings.HasPrefix(p.Message, "unknown profile") })
		if allowed != (len(ours) == 0) {
			t.Errorf("the schema says %v (%v), we say %v\n%s", allowed, schema.Validate(value), ours, text)
		}
	})
}
