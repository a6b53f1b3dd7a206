package config

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"
)

// leftOut stands for an argument that looks like a secret, since no reference may
// stand there.
const leftOut = "LEFT-OUT"

// Fragment is what parley.yaml would say of imported servers, of the space with
// that name: a whole configuration, of which to take what is needed. No value is
// in it that may be a secret: references stay, and for literal values that are not
// plainly harmless there is a reference to a variable, which has to be set.
func Fragment(space string, imports []*Imported) string {
	p := &fragment{owners: make(map[string]string)}
	p.line(0, "spaces:")
	p.line(1, "%s:", quote(space))
	p.line(2, "mcp_servers:")
	for _, im := range imports {
		for _, s := range im.Servers {
			p.reserve(s.node)
		}
	}
	for _, im := range imports {
		for _, s := range im.Servers {
			p.line(3, "# %s:%d", printable(filepath.Base(im.Name)), s.Line)
			p.server(s)
		}
	}
	return p.b.String()
}

// fragment writes block by block.
type fragment struct {
	b      strings.Builder
	owners map[string]string // what each variable is for: referenced, or = and its value
}

const referenced = "${}"

func (p *fragment) line(level int, format string, args ...any) {
	p.b.WriteString(strings.Repeat("  ", level))
	fmt.Fprintf(&p.b, format+"\n", args...)
}

// reserve keeps the names of variables that are referred to from being given to
// values that are left out.
func (p *fragment) reserve(n *node) {
	for _, e := range n.entries {
		p.reserve(e.value)
		if e.value.kind != stringNode {
			continue
		}
		for _, part := range ourPieces(e.value.text) {
			if name, ok := strings.CutPrefix(part.text, "env:"); ok && part.reference {
				p.owners[name] = referenced
			}
		}
	}
}

func (p *fragment) server(s ImportedServer) {
	p.line(3, "%s:", quote(s.ID))
	for _, e := range s.node.entries {
		switch e.key {
		case "type": // follows from the rest
		case "args":
			p.args(e.value)
		case "env", "headers":
			p.values(s.ID, e)
		case "url":
			p.url(e.value.text)
		default:
			p.line(4, "%s: %s", e.key, quote(e.value.text))
		}
	}
}

func (p *fragment) args(list *node) {
	var words []string
	before, why := "", ""
	for _, item := range list.items {
		word := item.text
		if secretArgument(before, word) {
			word, why = leftOut, " # an argument that looks like a secret was left out"
		}
		words = append(words, quote(word))
		before = item.text
	}
	p.line(4, "args: [%s]%s", strings.Join(words, ", "), why)
}

// url writes an address without what looks like a secret in it.
func (p *fragment) url(text string) {
	u, err := url.Parse(text)
	if err == nil && !secretQuery(u) {
		p.line(4, "url: %s", quote(text))
		return
	}
	short := ""
	if err == nil {
		short = u.Scheme + "://" + u.Host + "/" + leftOut
	}
	p.line(4, "url: %s # a part that looks like a secret was left out", quote(short))
}

func (p *fragment) values(id string, of entry) {
	p.line(4, "%s:", of.key)
	for _, e := range of.value.entries {
		text, why := e.value.text, ""
		if !harmlessText(e.key, text) {
			text, why = p.replaced(id, of.key, e.key, text)
		}
		p.line(5, "%s: %s%s", quote(e.key), quote(text), why)
	}
}

// harmlessText is [harmless] for a text that may hold references.
func harmlessText(name, text string) bool {
	parts := ourPieces(text)
	if len(parts) < 2 && (len(parts) == 0 || !parts[0].reference) {
		return harmless(name, text)
	}
	for _, part := range parts {
		if !part.reference && !harmlessPart(name, part.text) {
			return false
		}
	}
	return true
}

var plainPart = regexp.MustCompile(`^[:;,/\\._ -]{0,4}$|^[:;]?\.{0,2}[/\\][^\x00-\x1f$]*$`)

func harmlessPart(name, text string) bool {
	return harmless(name, text) || plainScheme.MatchString(text) ||
		plainPart.MatchString(text) && !looksSecret(text) && !secretName.MatchString(name)
}

// replaced is a reference in place of a literal value, and a comment that says so.
func (p *fragment) replaced(id, key, name, text string) (reference, why string) {
	scheme := ""
	preferred := variableName(name)
	if key == "headers" {
		if prefix := variableName(id) + "_"; !strings.HasPrefix(preferred, prefix) {
			preferred = prefix + preferred
		}
		if word, rest, ok := strings.Cut(text, " "); ok && plainScheme.MatchString(word+" ") && rest != "" {
			scheme, text = word+" ", rest
		}
	} else if bareName.MatchString(name) {
		preferred = name
	}
	variable := p.variable(preferred, variableName(id), text)
	return scheme + "${env:" + variable + "}", " # a literal value was left out: set " + variable + " to it"
}

// variable is a variable that is for that value alone.
func (p *fragment) variable(preferred, id, text string) string {
	name := preferred
	for n := 1; ; n++ {
		if owner, taken := p.owners[name]; !taken || owner == "="+text {
			p.owners[name] = "=" + text
			return name
		}
		name = id + "_" + strings.TrimPrefix(preferred, id+"_")
		if n > 1 {
			name = fmt.Sprintf("%s_%d", name, n)
		}
	}
}

// ourPieces takes apart a text as parley.yaml has it, where $${ is a plain ${.
func ourPieces(text string) []piece {
	var parts []piece
	literal := ""
	flush := func() {
		if literal != "" {
			parts = append(parts, piece{text: literal})
		}
		literal = ""
	}
	for {
		before, after, found := strings.Cut(text, "${")
		plain, escaped := strings.CutSuffix(before, "$")
		if !found {
			literal += before
			flush()
			return parts
		}
		if escaped {
			literal += plain + "${"
			text = after
			continue
		}
		literal += before
		flush()
		inside, rest, _ := strings.Cut(after, "}")
		parts = append(parts, piece{inside, true})
		text = rest
	}
}

var plainScalar = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_./-]*$`)

// quote is text as a scalar of YAML, on one line.
func quote(text string) string {
	switch strings.ToLower(text) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
	default:
		if plainScalar.MatchString(text) {
			return text
		}
	}
	return `"` + printable(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)) + `"`
}

// printable is text with escapes of YAML in place of what does not show as
// itself.
func printable(text string) string {
	var b strings.Builder
	for _, c := range text {
		switch {
		case unicode.IsPrint(c):
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			fmt.Fprintf(&b, `\U%08x`, c)
		}
	}
	return b.String()
}
