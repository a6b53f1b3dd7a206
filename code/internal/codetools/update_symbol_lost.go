package codetools

import (
	"regexp"
	"slices"
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// maxTold bounds the lists of an answer.
const maxTold = 50

// dropped is what belonged to the symbol and is not in the new code: decorators,
// export, and comments that tell the compiler of Go something. All of it is
// shown as code by extract_code, so that to leave it out means to take it away;
// but whoever wrote only the function anew did not mean it.
func (e *edit) dropped() (lost []string) {
	was := leading(e.before, e.start, e.was.Span.Start)
	is := leading(e.after, e.start, e.symbol.Span.Start)
	for _, item := range was {
		if !slices.Contains(is, item) && len(lost) < maxTold {
			lost = append(lost, item)
		}
	}
	return lost
}

// leading are those that stand between two offsets.
func leading(f *syntax.File, start, end int) (items []string) {
	if f.Language == syntax.Go {
		return directives(string(f.Source[start:max(start, end)]))
	}
	export := ""
	for n := range f.Tree.Root().All() {
		if n.Start() < start || n.End() > end {
			continue
		}
		switch k := n.Kind(); k {
		case "decorator":
			items = append(items, bounded(oneLine(n.Text()), 200))
		case "export", "default", "declare":
			if n.Named() {
				continue
			}
			export = strings.TrimSpace(export + " " + k)
		}
	}
	if export != "" {
		items = append(items, export)
	}
	return items
}

// directive is a comment that is none, such as //go:embed.
var directive = regexp.MustCompile(`(?m)^[ \t]*(//(?:[a-z0-9]+:[a-z0-9]|export |extern |line )[^\r\n]*)`)

func directives(text string) (found []string) {
	for _, m := range directive.FindAllStringSubmatch(text, maxTold) {
		found = append(found, bounded(strings.TrimSpace(m[1]), 200))
	}
	return found
}
