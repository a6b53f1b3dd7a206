package command

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/nearest"
)

func parseNothing(*scanner, *Command) error { return nil }

// need is a word that has to be there.
func need(s *scanner, c *Command, what string) (string, error) {
	at := s.skip()
	if s.rest() == "" {
		return "", s.missing(c, what)
	}
	text, err := s.word()
	if err == nil && text == "" {
		err = s.wrong(at, what+" is empty", "write "+verbOf("/"+string(c.Verb)).line())
	}
	return text, err
}

func (s *scanner) missing(c *Command, what string) error {
	return s.wrong(s.end, what+" is missing", "write "+verbOf("/"+string(c.Verb)).line())
}

func parseText(s *scanner, c *Command) error {
	c.Text = s.all()
	if c.Text == "" {
		return s.missing(c, "the text")
	}
	return nil
}

func parseTo(s *scanner, c *Command) error {
	whom, err := need(s, c, "the participant")
	if err != nil {
		return err
	}
	c.People = strings.Split(whom, ",")
	if slices.Contains(c.People, "") {
		return s.wrong(s.at, "there is a comma too many in "+shown(whom), "write agent,boss without blanks")
	}
	c.Text = s.all()
	if c.Text == "" {
		return s.missing(c, "the text")
	}
	return nil
}

func parseCall(s *scanner, c *Command) error {
	if err := parseTarget(s, c); err != nil {
		return err
	}
	return parseArgs(s, c, nil)
}

func parsePropose(s *scanner, c *Command) error {
	if err := parseTarget(s, c); err != nil {
		return err
	}
	if err := parseArgs(s, c, []string{"for", "until", "because"}); err != nil {
		return err
	}
	return parseClauses(s, c)
}

// parseTarget reads who is asked, and for what: a tool or, with a slash in it, another
// method. In quotes it is a tool.
func parseTarget(s *scanner, c *Command) (err error) {
	if c.Target, err = need(s, c, "the target"); err != nil {
		return err
	}
	if c.Target == "-" && c.Verb == Propose {
		c.Target = ""
	}
	s.skip()
	inQuotes := strings.HasPrefix(s.rest(), `"`)
	name, err := need(s, c, "the tool")
	if strings.Contains(name, "/") && !inQuotes {
		c.Method = name
	} else {
		c.Method, c.Tool = "tools/call", name
	}
	return err
}

// parseArgs reads arguments, up to a word that ends them.
func parseArgs(s *scanner, c *Command, ends []string) (err error) {
	s.skip()
	if strings.HasPrefix(s.rest(), "{") {
		if c.Object, err = s.json(); err == nil && s.rest() != "" && !strings.ContainsAny(s.rest()[:1], blanks) {
			err = s.wrong(s.at, "something follows the object", "the object is all of the arguments")
		}
		return err
	}
	for next := s.peek(); next != "" && !slices.Contains(ends, next); next = s.peek() {
		at := s.at
		a, err := s.argument()
		switch {
		case err != nil:
			return err
		case c.Method != "" && c.Tool == "":
			return s.wrong(at, shown(c.Method)+" is a method, and takes no arguments", "write its params as one object, {…}")
		case slices.ContainsFunc(c.Args, func(b Arg) bool { return a.Name == b.Name }):
			return s.wrong(at, "the argument "+shown(a.Name)+" is given twice", "write it once")
		}
		c.Args = append(c.Args, a)
	}
	return nil
}

// argument reads name=text, name==text or name:=json. On an error it holds as much as
// there is.
func (s *scanner) argument() (a Arg, err error) {
	a.at = s.skip()
	a.column = column(s.line, a.at)
	sign := ""
	if a.Name, sign, err = s.name(); err != nil {
		return a, err
	}
	from := s.at
	switch {
	case sign == ":=" && strings.HasPrefix(s.rest(), "'"): // as a shell would want it
		a.Text, err = s.word()
		inner := &scanner{line: a.Text, end: len(a.Text)}
		if a.JSON, _ = inner.json(); err == nil && (a.JSON == nil || inner.all() != "") {
			err = s.wrong(from, "this is no valid JSON", "for a text write "+a.Name+"=text")
		}
		return a, err
	case sign == ":=":
		if a.JSON, err = s.json(); err != nil {
			a.Text = s.raw()
		} else {
			a.Text = string(a.JSON)
		}
	case strings.HasPrefix(s.rest(), "="):
		s.at++
		a.Bare = true
		a.Text, err = s.value()
	case strings.HasPrefix(s.rest(), "@"):
		return a, s.wrong(from, "no files are read here", "write "+a.Name+"=="+"@… for a text that begins with @")
	default:
		a.Text, err = s.value()
	}
	if err == nil && s.rest() != "" && !strings.ContainsAny(s.rest()[:1], blanks) {
		err = s.wrong(s.at, "something follows the value of "+shown(a.Name), "put a blank between arguments, and \"quotes\" around what holds blanks")
	}
	return a, err
}

// name reads the name of an argument, and the sign behind it, "=" or ":=".
func (s *scanner) name() (name, sign string, err error) {
	from := s.at
	if strings.HasPrefix(s.rest(), `"`) {
		if name, err = s.quoted(); err != nil {
			return name, "", err
		}
	} else {
		n := strings.IndexAny(s.rest(), "="+blanks)
		if n < 0 {
			n = len(s.rest())
		}
		name = s.rest()[:n]
		s.at += n
		if strings.HasSuffix(name, ":") && strings.HasPrefix(s.rest(), "=") {
			name = name[:len(name)-1]
			s.at--
		}
	}
	for _, sign := range []string{":=", "="} {
		if strings.HasPrefix(s.rest(), sign) && name != "" {
			s.at += len(sign)
			return name, sign, nil
		}
	}
	return name, "", s.wrong(from, shown(name)+" is no argument", "write name=text or name:=json, and \"quotes\" around what holds blanks")
}

// parseClauses reads what may stand behind everything else.
func parseClauses(s *scanner, c *Command) error {
	for {
		switch next := s.peek(); next {
		case "for", "until":
			at := s.at
			s.raw()
			text, err := need(s, c, "the time")
			if err != nil {
				return err
			}
			if err := c.expires(next, text); err != nil {
				return s.wrong(at, next+" "+shown(text)+" is no time", "write for 10m, for 1h, for 2d, or until 2026-11-20T18:00:00Z")
			}
		case "because":
			s.raw()
			c.Why = s.all()
			return nil
		default:
			return nil
		}
	}
}

func (c *Command) expires(word, text string) (err error) {
	if word == "until" {
		c.For = 0
		c.Until, err = time.Parse(time.RFC3339, text)
		return err
	}
	c.Until = time.Time{}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 1 || n > 36500 {
			return errors.New("no days")
		}
		c.For = time.Duration(n) * 24 * time.Hour
		return nil
	}
	if c.For, err = time.ParseDuration(text); err == nil && c.For <= 0 {
		return errors.New("not in the future")
	}
	return err
}

func parseApprove(s *scanner, c *Command) error {
	if err := parseID(s, c); err != nil || s.peek() == "" {
		return err
	}
	target, err := s.word()
	c.Target = target
	return err
}

func parseID(s *scanner, c *Command) (err error) {
	c.ID, err = need(s, c, "the proposal")
	return err
}

func parseAmend(s *scanner, c *Command) error {
	if err := parseID(s, c); err != nil {
		return err
	}
	return parseArgs(s, c, nil)
}

// parseReject reads a reason before a colon, or alone, and words.
func parseReject(s *scanner, c *Command) error {
	if err := parseID(s, c); err != nil {
		return err
	}
	c.Reason, c.Why = Reasons[0], s.all()
	word, why, _ := strings.Cut(c.Why, ":")
	if slices.Contains(Reasons, word) {
		c.Reason, c.Why = word, strings.TrimSpace(why)
	}
	return nil
}

func parseGrant(s *scanner, c *Command) (err error) {
	if c.Who, err = need(s, c, "the participant"); err != nil {
		return err
	}
	if err := parsePatterns(s, c); err != nil {
		return err
	}
	return parseClauses(s, c)
}

func parseRevoke(s *scanner, c *Command) (err error) {
	if c.Who, err = need(s, c, "the participant"); err != nil {
		return err
	}
	if s.peek() == "grant" {
		s.raw()
		c.ID, err = need(s, c, "the id of the grant")
	} else {
		err = parsePatterns(s, c)
	}
	if err != nil || s.peek() != "because" {
		return err
	}
	return parseClauses(s, c)
}

// parsePatterns reads capabilities, as text or as an object.
func parsePatterns(s *scanner, c *Command) error {
	for next := s.peek(); next != "" && !slices.Contains([]string{"for", "until", "because"}, next); next = s.peek() {
		at := s.at
		text, err := s.word()
		if err != nil {
			return err
		}
		if _, err := parley.ParseCapability(text); err != nil {
			return s.pattern(at, err)
		}
		c.Patterns = append(c.Patterns, text)
	}
	if len(c.Patterns) == 0 {
		return s.wrong(s.at, "the capability is missing", "write "+verbOf("/"+string(c.Verb)).line())
	}
	return nil
}

func (s *scanner) pattern(at int, err error) error {
	if e, ok := errors.AsType[*parley.Error](err); ok {
		return s.wrong(at, e.Message, cmp.Or(e.Hint, "/help says how a context or a capability is written"))
	}
	return s.wrong(at, "this is no capability", "write one like mcp/request:tools/call:write_file")
}

func parseKick(s *scanner, c *Command) (err error) {
	c.Who, err = need(s, c, "the participant")
	c.Why = s.all()
	return err
}

func parseContext(s *scanner, c *Command) error {
	word := s.peek()
	c.Where = Show
	switch Place(word) {
	case "":
		return nil
	case Show, Leave:
		s.raw()
		c.Where = Place(word)
		return nil
	case Alone, Enter:
		s.raw()
		c.Where = Place(word)
		if c.Where == Alone && s.peek() == "" {
			return nil
		}
	default:
		c.Where = Enter
	}
	at := s.skip()
	name, err := need(s, c, "the context")
	if err != nil {
		return err
	}
	if c.Context, err = contextOf(name); err != nil {
		return s.pattern(at, err)
	}
	return nil
}

// contextOf reads ID[:TYPE]; a/b/c is nested in a/b.
func contextOf(name string) (*parley.Context, error) {
	id, typ, _ := strings.Cut(name, ":")
	in := &parley.Context{ID: id, Type: typ}
	if i := strings.LastIndexByte(id, '/'); i > 0 {
		in.Parent = id[:i]
	}
	return in, in.Check()
}

func parseForm(s *scanner, c *Command) (err error) {
	if s.peek() != "" {
		c.ID, err = s.word()
	}
	return err
}

func parseHelp(s *scanner, c *Command) error {
	at := s.skip()
	word := "/" + strings.TrimPrefix(s.raw(), "/")
	if word == "/" {
		return nil
	}
	v := verbOf(word)
	if v == nil {
		hint := "/help alone lists them"
		if near := nearest.To(word, names()); near != "" {
			hint = "did you mean " + near + "? " + hint
		}
		return s.wrong(at, "there is no command "+shown(word), hint)
	}
	c.Text = string(v.Verb)
	return nil
}
