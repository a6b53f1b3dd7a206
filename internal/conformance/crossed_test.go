package conformance

import (
	"strings"
	"testing"
)

// otherEra is the version of the server that a client of a version meets.
var otherEra = map[string]string{legacy: modern, modern: legacy}

// Reasons why no gateway could let a scenario pass.
const (
	asksOnly  = "the tool asks in mid-call alone, which the SDK's server refuses in the modern era"
	namesKeys = "it wants the server's names of its questions, and a request of the legacy era has none"
	oneRound  = "the SDK's server asks a legacy client in one round, and gives the next as a result without a type"
)

// impossible is what a client of a version cannot get of the other era's server.
var impossible = map[string]map[string]string{
	legacy: {
		"tools-call-sampling":          asksOnly,
		"tools-call-elicitation":       asksOnly,
		"elicitation-sep1034-defaults": asksOnly,
		"elicitation-sep1330-enums":    asksOnly,
	},
	modern: {
		"input-required-result-basic-elicitation": namesKeys,
		"input-required-result-multi-round":       oneRound,
	},
}

// A client of one era gets all that there is of a server of the other one.
func TestCrossedConformance(t *testing.T) {
	results := newTable(t, "client", "server", "way", "scored", "others", "impossible")
	for version, other := range otherEra {
		for _, way := range []string{"stdio", "http"} {
			t.Run(version+"/"+way, func(t *testing.T) {
				t.Parallel()
				url := ways[way](t, other)
				answers(t, url, version, serverName)
				o := runSuite(t, url, version)
				judgeCrossed(t, version, o)
				scored, others := count(o.scenarios)
				results.add(version, other, way, scored.String(), others.String(), strings.Join(failed(o), ", "))
			})
		}
	}
}

// judgeCrossed fails the test where what failed is anything but what is known to
// be impossible.
func judgeCrossed(t *testing.T, version string, o outcome) {
	t.Helper()
	if scored, _ := count(o.scenarios); scored.run != required[version].scored {
		t.Errorf("%d scenarios were scored, want %d", scored.run, required[version].scored)
	}
	known := impossible[version]
	for _, s := range o.scenarios {
		switch reason := known[s.name]; {
		case s.unscored == "extension", !s.ok() && reason != "":
		case s.ok() && reason != "":
			t.Errorf("%s passed, though %s", s.name, reason)
		case !s.ok():
			t.Errorf("%s: %d checks failed\n    %s", s.name, s.failed, strings.Join(failures(t, o.dir, s.name), "\n    "))
		}
	}
}

func failed(o outcome) (names []string) {
	for _, s := range o.scenarios {
		if !s.ok() && s.unscored != "extension" {
			names = append(names, s.name)
		}
	}
	return names
}
