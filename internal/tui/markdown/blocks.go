package markdown

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"github.com/parleyhq/parley/internal/tui/safe"
)

// blocks draws what a block consists of, one below the other.
func (p *page) blocks(parent ast.Node, source []byte, tight bool) {
	for n := parent.FirstChild(); n != nil && !p.isFull(); n = n.NextSibling() {
		if n.PreviousSibling() != nil && !tight {
			p.separate()
		}
		p.block(n, source)
	}
}

func (p *page) block(n ast.Node, source []byte) {
	switch n := n.(type) {
	case *ast.Heading:
		p.words(p.inline(n, source, p.styles.Heading, strings.Repeat("#", n.Level)+" "))
	case *ast.Blockquote:
		p.within(p.styles.Quote.Render("│")+" ", "", 2, func() { p.blocks(n, source, false) })
	case *ast.List:
		p.list(n, source)
	case *ast.CodeBlock:
		p.within("  ", "", 2, func() { p.code(n.Lines().Value(source)) })
	case *ast.FencedCodeBlock:
		info := ""
		if n.Info != nil {
			info = string(n.Info.Segment.Value(source))
		}
		p.fenced(info, n.Lines().Value(source))
	case *ast.HTMLBlock:
		html := n.Lines().Value(source)
		if n.HasClosure() {
			html = append(html, n.ClosureLine.Value(source)...)
		}
		p.code(html)
	case *ast.ThematicBreak:
		p.put(strings.Repeat("─", min(p.room(), 40)))
	case *extast.Table:
		p.table(n, source)
	case *ast.LinkReferenceDefinition: // else somebody could write what agents read, and people do not see
		p.words(words{}.and("["+safe.OneLine(string(n.Label))+"]: "+safe.OneLine(string(n.Destination))+titled(n.Title), words{}))
	default:
		if n.Type() == ast.TypeBlock && n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeBlock {
			p.blocks(n, source, false)
			return
		}
		p.words(p.inline(n, source, noStyle, ""))
	}
}

func (p *page) list(n *ast.List, source []byte) {
	number := n.Start
	for item := n.FirstChild(); item != nil && !p.isFull(); item = item.NextSibling() {
		bullet := "• "
		if n.IsOrdered() {
			bullet = fmt.Sprintf("%d%c ", number, n.Marker)
			number++
		}
		if item.PreviousSibling() != nil && !n.IsTight {
			p.separate()
		}
		wide := safe.Width(bullet)
		p.within(strings.Repeat(" ", wide), p.styles.Marker.Render(strings.TrimSuffix(bullet, " "))+" ", wide, func() {
			if item.FirstChild() == nil {
				p.put("")
			}
			p.blocks(item, source, n.IsTight)
		})
	}
}

// fenced is code that was given a name: of a language, or whatever else stands there.
func (p *page) fenced(info string, source []byte) {
	p.within("  ", "", 2, func() {
		if info = strings.TrimSpace(info); info != "" {
			p.words(words{}.and(safe.OneLine(info)+":", words{}))
		}
		p.code(source)
	})
}

// titled is a title of a link, which a browser would show under the mouse.
func titled(title []byte) string {
	if len(title) == 0 {
		return ""
	}
	return ` "` + safe.OneLine(string(meant(title))) + `"`
}

// code keeps lines, and folds those that are too long.
func (p *page) code(source []byte) {
	for line := range strings.SplitSeq(strings.TrimRight(safe.Text(string(source)), "\n"), "\n") {
		for _, part := range fold(line, p.room()) {
			p.put(paint(p.styles.Code, line[part.from:part.to]))
		}
		if p.isFull() {
			return
		}
	}
}

// maxCells is how many cells of a row are lined up.
const maxCells = 16

// table lines cells up, where they fit beside each other, and else puts a line for
// each cell.
func (p *page) table(n *extast.Table, source []byte) {
	var rows [][]words
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		style := noStyle
		if row.Kind() == extast.KindTableHeader {
			style = p.styles.Strong
		}
		var cells []words
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, p.inline(cell, source, style, ""))
		}
		rows = append(rows, cells)
	}
	wide, total := widths(rows)
	if len(wide) > maxCells || total > p.room() {
		p.cells(rows)
		return
	}
	for i, row := range rows {
		var line strings.Builder
		for j, cell := range row {
			line.WriteString(cell.render(extent{0, len(cell.text)}))
			if j < len(row)-1 {
				line.WriteString(strings.Repeat(" ", wide[j]-safe.Width(cell.text)) + " │ ")
			}
		}
		p.put(line.String())
		if i == 0 {
			p.put(strings.Repeat("─", total))
		}
	}
}

func widths(rows [][]words) (wide []int, total int) {
	for _, row := range rows {
		for j, cell := range row {
			if j == len(wide) {
				wide = append(wide, 0)
			}
			wide[j] = max(wide[j], safe.Width(cell.text))
		}
	}
	for _, w := range wide {
		total += w + len(" | ")
	}
	return wide, max(total-len(" | "), 0)
}

// cells puts each cell behind the head of its column.
func (p *page) cells(rows [][]words) {
	for i, row := range rows[1:] {
		if i > 0 {
			p.separate()
		}
		for j, cell := range row {
			if j < len(rows[0]) {
				cell = rows[0][j].and(": ", cell)
			}
			p.words(cell)
		}
	}
}
