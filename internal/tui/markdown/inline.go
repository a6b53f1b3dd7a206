package markdown

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"github.com/parleyhq/parley/internal/tui/safe"
)

var noStyle lipgloss.Style

// words are safe text with styles.
type words struct {
	text  string
	spans []span // one after the other, over all of the text
}

type span struct {
	to    int // where it ends, in bytes
	style lipgloss.Style
}

// render is a part of it, with its styles; the first span holds its beginning.
func (w words) render(part extent) string {
	var b strings.Builder
	from := part.from
	for _, s := range w.spans {
		if from >= part.to {
			break
		}
		if to := min(s.to, part.to); to > from {
			b.WriteString(paint(s.style, w.text[from:to]))
			from = to
		}
	}
	return b.String()
}

// paint puts text into a style as a whole. Render puts each rune by itself into one
// that underlines or strikes through, and so takes marks off what they stand on.
func paint(style lipgloss.Style, text string) string {
	before, after, _ := strings.Cut(style.Render("x"), "x")
	return before + text + after
}

// and is one after the other.
func (w words) and(between string, other words) words {
	sum := words{w.text + between + other.text, append(append([]span{}, w.spans...), span{len(w.text) + len(between), noStyle})}
	for _, s := range other.spans {
		sum.spans = append(sum.spans, span{s.to + len(w.text) + len(between), s.style})
	}
	return sum
}

// words puts a paragraph.
func (p *page) words(w words) {
	next := 0 // the first span that the line can have
	for _, part := range fold(w.text, p.room()) {
		for next < len(w.spans) && w.spans[next].to <= part.from {
			next++
		}
		p.put(words{w.text, w.spans[next:]}.render(part))
		if p.isFull() {
			return
		}
	}
}

// writer makes words of inline nodes.
type writer struct {
	p      *page
	source []byte
	text   strings.Builder
	spans  []span
}

// inline is what stands in a block, behind a mark of ours.
func (p *page) inline(n ast.Node, source []byte, style lipgloss.Style, mark string) words {
	w := &writer{p: p, source: source}
	w.put(mark, style)
	w.children(n, style)
	return words{strings.TrimRight(w.text.String(), "\n"), w.spans}
}

// put adds text that is safe.
func (w *writer) put(text string, style lipgloss.Style) {
	if text == "" {
		return
	}
	w.text.WriteString(text)
	w.spans = append(w.spans, span{w.text.Len(), style})
}

func (w *writer) children(parent ast.Node, style lipgloss.Style) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		w.node(n, style)
	}
}

func (w *writer) node(n ast.Node, style lipgloss.Style) {
	s := w.p.styles
	switch n := n.(type) {
	case *ast.Text:
		value := n.Segment.Value(w.source)
		if !n.IsRaw() {
			value = meant(value)
		}
		w.put(safe.OneLine(string(value)), style)
		if n.SoftLineBreak() || n.HardLineBreak() { // people who chat mean their line breaks
			w.put("\n", noStyle)
		}
	case *ast.String:
		w.put(safe.OneLine(string(n.Value)), style)
	case *ast.CodeSpan:
		w.children(n, s.Code.Inherit(style))
	case *ast.Emphasis:
		if n.Level > 1 {
			style = s.Strong.Inherit(style)
		} else {
			style = s.Emphasis.Inherit(style)
		}
		w.children(n, style)
	case *extast.Strikethrough:
		w.children(n, s.Struck.Inherit(style))
	case *extast.TaskCheckBox:
		w.put(map[bool]string{true: "[x] ", false: "[ ] "}[n.IsChecked], style)
	case *ast.Link:
		w.link(n, string(meant(n.Destination)), "", titled(n.Title), style)
	case *ast.Image:
		what := "image"
		if n.HasChildren() {
			what = "image: "
		}
		w.link(n, string(meant(n.Destination)), what, titled(n.Title), style)
	case *ast.AutoLink:
		w.put(safe.OneLine(string(n.Label(w.source))), s.Link.Inherit(style))
	case *ast.RawHTML:
		w.put(safe.OneLine(string(n.Segments.Value(w.source))), style)
	default:
		w.children(n, style)
	}
}

// meant is text as its writer meant it, without backslashes and entities.
func meant(value []byte) []byte {
	return util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value)))
}

// link puts words, and beside them where they lead.
func (w *writer) link(n ast.Node, target, what, title string, style lipgloss.Style) {
	inner := &writer{p: w.p, source: w.source}
	inner.put(what, w.p.styles.Link.Inherit(style))
	inner.children(n, w.p.styles.Link.Inherit(style))
	said := strings.TrimPrefix(inner.text.String(), what)
	before := w.text.Len()
	w.text.WriteString(inner.text.String())
	for _, s := range inner.spans {
		w.spans = append(w.spans, span{before + s.to, s.style})
	}
	switch where, honest := destination(said, target); {
	case said == target && honest && title == "":
	case honest:
		w.put(" ("+where+title+")", w.p.styles.Target.Inherit(style))
	default:
		w.put(" (! goes to "+where+title+")", w.p.styles.Warning.Inherit(style))
	}
}
