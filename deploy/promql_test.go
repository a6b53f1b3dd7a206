package deploy

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// expression is what a test wants to know of one in PromQL: which series it
// selects, and by which labels it groups them.
type expression struct {
	selectors []selector
	grouped   []string
}

type selector struct {
	metric   string
	matchers []matcher
}

type matcher struct{ label, op, value string }

var token = regexp.MustCompile(`\s*(?:` + strings.Join([]string{
	`"(?:[^"\\]|\\.)*"`,         // string
	`\[[^\]]*\]`,                // range
	`[0-9][0-9a-zA-Z.]*`,        // number or duration
	`[a-zA-Z_:][a-zA-Z0-9_:]*`,  // name
	`=~|!~|!=|==|>=|<=`,         // operators
	`[-+*/%^<>=(){},]|\$[a-z]+`, // and the rest
}, "|") + `)`)

var name = regexp.MustCompile(`^[a-zA-Z_:]`)

var (
	words     = []string{"and", "or", "unless", "bool", "offset"}
	groupings = []string{"by", "without", "on", "ignoring", "group_left", "group_right"}
	functions = []string{
		"sum", "min", "max", "count", "avg", "topk", "rate", "increase", "changes", "histogram_quantile", "predict_linear",
		"time", "vector", "label_values",
	}
)

// parse takes an expression apart as far as names go. It knows the functions
// that are used here, so that a misspelt one is found.
func parse(expr string) (e expression, err error) {
	var tokens []string
	for rest := expr; strings.TrimSpace(rest) != ""; {
		at := token.FindStringIndex(rest)
		if at == nil || at[0] != 0 {
			return e, fmt.Errorf("cannot be read from here on: %q", rest)
		}
		tokens = append(tokens, strings.TrimSpace(rest[:at[1]]))
		rest = rest[at[1]:]
	}
	p := parser{tokens: tokens}
	depth := 0
	for len(p.tokens) > 0 {
		switch t := p.next(); {
		case t == "(":
			depth++
		case t == ")":
			depth--
		case !name.MatchString(t), slices.Contains(words, t):
		case slices.Contains(groupings, t):
			e.grouped = append(e.grouped, p.labels()...)
		case p.peek() == "(" || slices.Contains(groupings, p.peek()):
			if !slices.Contains(functions, t) {
				return e, fmt.Errorf("unknown function %s", t)
			}
			if t == "label_values" { // Grafana's: its last argument is a label
				e.grouped = append(e.grouped, p.tokens[len(p.tokens)-2])
				p.tokens = slices.Delete(p.tokens, len(p.tokens)-3, len(p.tokens)-1)
			}
		default:
			e.selectors = append(e.selectors, selector{t, p.matchers()})
		}
		if depth < 0 {
			break
		}
	}
	if depth != 0 {
		err = fmt.Errorf("the parentheses do not match")
	}
	return e, err
}

type parser struct{ tokens []string }

func (p *parser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *parser) next() string {
	t := p.peek()
	p.tokens = p.tokens[min(1, len(p.tokens)):]
	return t
}

// labels reads (a, b).
func (p *parser) labels() (list []string) {
	if p.next() != "(" {
		return nil
	}
	for t := p.next(); t != ")" && t != ""; t = p.next() {
		if t != "," {
			list = append(list, t)
		}
	}
	return list
}

// matchers reads {a="b",…}, or nothing.
func (p *parser) matchers() (list []matcher) {
	if p.peek() != "{" {
		return nil
	}
	for t := p.next(); t != "}" && t != ""; t = p.next() {
		if t == "{" || t == "," {
			continue
		}
		m := matcher{label: t, op: p.next()}
		m.value, _ = strconv.Unquote(p.next())
		list = append(list, m)
	}
	return list
}

func TestParse(t *testing.T) {
	e, err := parse(`histogram_quantile(0.99, sum by (le, space) (rate(a_bucket{x=~"b|c",y!="d\"}"}[5m])))
		/ on (job) group_left () max(time() - up) > bool 3e2 or label_values(z{q="1"}, space)`)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%v", e)
	if want := `{[{a_bucket [{x =~ b|c} {y != d"}}]} {up []} {z [{q = 1}]}] [le space job space]}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, bad := range []string{"sum(a", "a)", "summ(a)", "a # b", "sum by (x) (a))"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%s passes", bad)
		}
	}
}
