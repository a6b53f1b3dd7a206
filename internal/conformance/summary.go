package conformance

import (
	"bufio"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// scenario is what the suite says of one of its scenarios.
type scenario struct {
	name           string
	passed, failed int    // checks
	unscored       string // why it does not count, or ""
}

func (s scenario) ok() bool { return s.failed == 0 }

var (
	scenarioLine = regexp.MustCompile(`^[✓✗] ([a-z0-9-]+): (\d+) passed, (\d+) failed$`)
	unscoredLine = regexp.MustCompile(`^  [✓✗] ([a-z0-9-]+) \(([a-z-]+)\)$`)
)

// readSummary reads the end of what the suite prints. A run that broke off has
// none, which is an error: what did not run did not pass.
func readSummary(out string) ([]scenario, error) {
	_, summary, found := strings.Cut(out, "=== SUMMARY ===")
	if !found {
		return nil, fmt.Errorf("the suite printed no summary")
	}
	var list []scenario
	at := make(map[string]int)
	for lines := bufio.NewScanner(strings.NewReader(summary)); lines.Scan(); {
		if m := scenarioLine.FindStringSubmatch(lines.Text()); m != nil {
			s := scenario{name: m[1]}
			s.passed, _ = strconv.Atoi(m[2])
			s.failed, _ = strconv.Atoi(m[3])
			at[s.name] = len(list)
			list = append(list, s)
		} else if m := unscoredLine.FindStringSubmatch(lines.Text()); m != nil {
			i, known := at[m[1]]
			if !known {
				return nil, fmt.Errorf("the suite does not score %s, which it did not run", m[1])
			}
			list[i].unscored = m[2]
		}
	}
	return list, nil
}

// tally counts scenarios that passed.
type tally struct{ passed, run int }

func (t *tally) add(s scenario) {
	t.run++
	if s.ok() {
		t.passed++
	}
}

func (t tally) String() string { return fmt.Sprintf("%d/%d", t.passed, t.run) }

// count tells what is scored from what is not. Extensions of the protocol are
// left out: neither the SDK's server nor a room has them.
func count(list []scenario) (scored, others tally) {
	for _, s := range list {
		switch s.unscored {
		case "":
			scored.add(s)
		case "extension":
		default:
			others.add(s)
		}
	}
	return scored, others
}
