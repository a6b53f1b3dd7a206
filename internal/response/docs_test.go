package response

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// The example and the table of docs/response.md are what happens.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/response.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```jsonc\n")
	example, _, ok := strings.Cut(rest, "```")
	if c := parsed(t, example); !ok || c.Shape("security_scan", Pro).Profile() != "timed" {
		t.Error("the example is not what it says")
	}
	rows := regexp.MustCompile("(?m)^\\| `(\\{.*\\})` \\| (.*) \\| `(\\{.*\\})` \\|$").FindAllStringSubmatch(string(text), -1)
	if len(rows) != 4 {
		t.Fatalf("there are %d rows", len(rows))
	}
	for _, row := range rows {
		var global, tool []string
		for _, m := range regexp.MustCompile("`(exclude_(?:null_values|empty_objects|default_values))`").FindAllStringSubmatch(row[2], -1) {
			global = append(global, `"`+m[1]+`": true`)
		}
		if strings.Contains(row[2], "include_only") {
			tool = append(tool, `"include_only": ["a", "b"], "exclude_fields": ["b"]`)
		}
		c := parsed(t, `{"global": {`+strings.Join(global, ",")+`}, "tool_overrides": {"t": {`+strings.Join(tool, ",")+`}}}`)
		if got := string(c.Shape("t", Pro).Append(nil, &Answer{Data: jsontext.Value(row[1])})); got != `{"data":`+row[3]+`}` {
			t.Errorf("%s: %s", row[0], got)
		}
	}
}
