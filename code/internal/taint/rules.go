package taint

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The tables. Their language stands at the head of rules/README.md.
var (
	//go:embed rules/python.rules
	pythonText string
	//go:embed rules/javascript.rules
	javascriptText string
	//go:embed rules/go.rules
	goText string
)

var (
	pythonRules     = sync.OnceValue(func() *rules { return mustParse("python.rules", pythonText) })
	javascriptRules = sync.OnceValue(func() *rules { return mustParse("javascript.rules", javascriptText) })
	goRules         = sync.OnceValue(func() *rules { return mustParse("go.rules", goText) })
)

// A verb is what a rule says.
type verb string

const (
	aSource   verb = "source"    // what it gives is hostile
	aTypeOf   verb = "is"        // what it gives is of this type
	aSink     verb = "sink"      // what it takes must not be hostile
	isWeak    verb = "weak"      // it is a fault to use it
	aCleaner  verb = "clean"     // what it gives can no longer do this
	isPlain   verb = "plain"     // what it gives has nothing of what it takes
	aKeeper   verb = "keep"      // what it gives is the same text as what it takes
	aPart     verb = "part"      // what it gives is a part of what it takes
	aJoiner   verb = "compose"   // what it gives is a text made of what it takes
	isNormal  verb = "normal"    // it takes ".." out of a path
	anInto    verb = "into"      // it puts one thing it takes into another
	aGuard    verb = "guard"     // true says that what it takes can no longer do this
	aRefusal  verb = "refuse"    // false says that what it takes can no longer do this
	aCheck    verb = "check"     // to come back from it says that
	aPrefix   verb = "prefix"    // true says that the one text begins with the other
	aContains verb = "contains"  // true says that the one thing has the other in it
	anExit    verb = "exit"      // it does not come back
	aParam    verb = "parameter" // a parameter of this name is of this type
	aRoute    verb = "route"     // what is decorated so is called by a web framework
	aMatch    verb = "matches"   // true says that a text is of a pattern
	isSame    verb = "same"      // what it gives is what it takes, under another name
	aMapper   verb = "callback"  // what it gives is what the function that it takes gives
	aMixer    verb = "mix"       // it changes the order of what it is called on
	aCarrier  verb = "carrier"   // who is given it may take hostile text out of it
	aSecret   verb = "secret"    // what it takes is a secret
)

// argument counts of verbs between the verb and the pattern.
var wordsBefore = map[verb]int{
	aSource: 1, aTypeOf: 0, aSink: 1, isWeak: 1, aCleaner: 1, isPlain: 0, aKeeper: 0, aPart: 0, aJoiner: 0,
	isNormal: 0, anInto: 0, aGuard: 1, aRefusal: 1, aCheck: 1, aPrefix: 0, aContains: 0, anExit: 0, aParam: 0, aRoute: 0, aMatch: 0,
	isSame: 0, aMapper: 0, aSecret: 0, aMixer: 0, aCarrier: 1,
}

// A rule is one line of a table.
type rule struct {
	verb    verb
	word    string // after the verb: a kind of source, a danger, a CWE
	danger  danger
	pattern string   // with "*." at its head: the end of a path
	args    []string // which of what it takes
	ifs     []condition
	maybe   uint8 // lowers the confidence
}

// A condition is what must hold, or with not must not hold, for a rule.
type condition struct {
	not  bool
	arg  string // which of what it takes; "" for a word alone
	op   byte   // '=' one of texts, '~' contains one of texts, '^' begins with one, ':' is of a type
	text []string
}

// rules is a table, found by the last word of the pattern.
type rules struct{ byEnd map[string][]*rule }

func mustParse(name, text string) *rules {
	r, err := parseRules(text)
	if err != nil {
		panic(name + ": " + err.Error())
	}
	return r
}

func parseRules(text string) (*rules, error) {
	r := &rules{byEnd: map[string][]*rule{}}
	n := 0
	for line := range strings.Lines(text) {
		n++
		words := strings.Fields(line)
		if len(words) == 0 || words[0][0] == '#' {
			continue
		}
		if err := r.add(words); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return r, nil
}

func (r *rules) add(words []string) error {
	one := rule{verb: verb(words[0])}
	before, ok := wordsBefore[one.verb]
	if !ok || len(words) < 2+before {
		return fmt.Errorf("%q is no rule, or lacks a pattern", words[0])
	}
	if before == 1 {
		one.word = words[1]
	}
	switch one.verb {
	case aSink, aCleaner, aGuard, aRefusal, aCheck:
		for word := range strings.SplitSeq(one.word, ",") {
			d := dangerOf(word)
			if d == 0 {
				return fmt.Errorf("%q is no danger", word)
			}
			one.danger |= d
		}
	}
	patterns := expand(words[1+before])
	if err := one.rest(words[2+before:]); err != nil {
		return err
	}
	for _, p := range patterns {
		made := one
		made.pattern = p
		end := lastWord(p)
		r.byEnd[end] = append(r.byEnd[end], &made)
	}
	return nil
}

// rest reads what stands after the pattern.
func (o *rule) rest(words []string) error {
	for i := 0; i < len(words); i++ {
		switch w := words[i]; w {
		case "maybe":
			o.maybe++
		case "if", "unless":
			if i++; i == len(words) {
				return fmt.Errorf("nothing stands after %s", w)
			}
			o.ifs = append(o.ifs, parseCondition(words[i], w == "unless"))
		default:
			o.args = append(o.args, w)
		}
	}
	return nil
}

func parseCondition(word string, not bool) condition {
	i := strings.IndexAny(word, "=~:^")
	if i < 0 {
		return condition{not: not, text: []string{word}}
	}
	return condition{not: not, arg: word[:i], op: word[i], text: strings.Split(strings.ToLower(word[i+1:]), "|")}
}

// expand is a.{b,c}.d as a.b.d and a.c.d.
func expand(pattern string) []string {
	open := strings.IndexByte(pattern, '{')
	if open < 0 {
		return []string{pattern}
	}
	end := open + strings.IndexByte(pattern[open:], '}')
	if end < open {
		return []string{pattern}
	}
	var out []string
	for word := range strings.SplitSeq(pattern[open+1:end], ",") {
		out = append(out, expand(pattern[:open]+word+pattern[end+1:])...)
	}
	return out
}

func lastWord(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// all are the rules about a path, in the order of the table.
func (r *rules) all(path string, v verb) (out []*rule) {
	for _, one := range r.byEnd[lastWord(path)] {
		if one.verb == v && one.fits(path) {
			out = append(out, one)
		}
	}
	return out
}

// first is the first rule about a path: nil for none.
func (r *rules) first(path string, v verb) *rule {
	for _, one := range r.byEnd[lastWord(path)] {
		if one.verb == v && one.fits(path) {
			return one
		}
	}
	return nil
}

func (o *rule) fits(path string) bool {
	if end, ok := strings.CutPrefix(o.pattern, "*"); ok {
		return strings.HasSuffix(path, end)
	}
	return o.pattern == path
}

// takes says whether a rule is about the nth argument, or the one of a name.
// A rule that does not say which is about all of them.
func (o *rule) takes(n int, name string) bool {
	if len(o.args) == 0 {
		return true
	}
	for _, a := range o.args {
		if a == "all" || name == "" && a == strconv.Itoa(n) || name != "" && a == name {
			return true
		}
		if from, ok := strings.CutSuffix(a, "+"); ok && name == "" {
			if i, err := strconv.Atoi(from); err == nil && n >= i {
				return true
			}
		}
	}
	return false
}

func (o *rule) receiver() bool { return slices.Contains(o.args, "receiver") }
