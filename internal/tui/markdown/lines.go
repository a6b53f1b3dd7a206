package markdown

import (
	"cmp"
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/parleyhq/parley/internal/tui/safe"
)

// Styles are how the parts of a text look. The zero value has no colours, and what is
// what can still be seen.
type Styles struct {
	Strong, Emphasis, Struck lipgloss.Style
	Code                     lipgloss.Style // spans and blocks
	Heading                  lipgloss.Style
	Quote                    lipgloss.Style // the bar beside it
	Marker                   lipgloss.Style // of lists
	Link                     lipgloss.Style // the words of a link
	Target                   lipgloss.Style // where it goes
	Warning                  lipgloss.Style // where it goes, against its words
}

const (
	// MaxMarkdown is how much of a text is read as markdown, in bytes.
	MaxMarkdown = 64 << 10
	// MaxLines is how many lines are made of a text.
	MaxLines = 20_000

	maxPiece   = 16 << 10 // bytes; the time to read one may grow with its square
	enough     = 4 << 10  // bytes of a piece that can end
	maxNesting = 16       // quotes and lists in each other
	narrowest  = 8        // columns of text beside bars and bullets
)

// reader is CommonMark and what people expect beside it. It may be used from any
// goroutine.
var reader = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList)).Parser()

// Lines is a text as styled lines, none of them wider than width columns. Each line
// begins and ends its own styles.
func Lines(source string, width int, s Styles) []string {
	p := &page{styles: s, width: max(width, 1)}
	rest := source
	for rest != "" && len(source)-len(rest) < MaxMarkdown && !p.isFull() {
		piece, kind := cut(rest)
		rest = rest[len(piece):]
		p.separate()
		switch kind {
		case isMarkdown:
			p.markdown(piece)
		case isCode:
			p.fenced(inFence(piece))
		default:
			p.plain(piece)
		}
	}
	if rest != "" && !p.isFull() {
		p.plain(rest)
	}
	for len(p.lines) > 0 && p.lines[len(p.lines)-1] == "" {
		p.lines = p.lines[:len(p.lines)-1]
	}
	if p.isFull() {
		p.lines = append(p.lines[:MaxLines-1], safe.Line(fmt.Sprintf("… (more than %d lines)", MaxLines), p.width))
	}
	return p.lines
}

func (p *page) markdown(piece string) {
	source := []byte(piece)
	if n := parse(source); n != nil {
		p.blocks(n, source, false)
	} else {
		p.plain(piece)
	}
}

// parse is nil where the parser fails: a mistake in it must not take a console down.
func parse(source []byte) (n ast.Node) {
	defer func() {
		if recover() != nil {
			n = nil
		}
	}()
	return reader.Parse(text.NewReader(source))
}

// What a piece of a text is.
type kind int

const (
	isPlain kind = iota // not looked at
	isMarkdown
	isCode // between fences
)

// cut takes the first piece of a text: code between fences, or what comes up to that,
// or to an empty line where there is one in time. Code between fences can be long, and
// needs no parser.
func cut(source string) (piece string, what kind) {
	end := 0
	what = isMarkdown
	for line := range strings.Lines(source) {
		switch f := fence(line); {
		case f != "" && end == 0:
			return source[:len(line)+untilFence(source[len(line):], f)], isCode
		case f != "" || strings.TrimSpace(line) == "" && end >= enough:
			return source[:end], what
		case end+len(line) > maxPiece && end == 0:
			return line, isPlain
		case end+len(line) > maxPiece:
			return source[:end], what
		case nesting(line) > maxNesting:
			what = isPlain
		}
		end += len(line)
	}
	return source, what
}

// fence is what a line opens code with that stands at its edge, or "".
func fence(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 && (c == "~" || !strings.Contains(line[n:], c)) {
			return line[:n]
		}
	}
	return ""
}

// untilFence is where the line ends that closes a fence, or everything does.
func untilFence(source, opened string) (end int) {
	for line := range strings.Lines(source) {
		end += len(line)
		if closing := strings.TrimSpace(line); strings.HasPrefix(closing, opened) && strings.Trim(closing, opened[:1]) == "" {
			return end
		}
	}
	return end
}

// inFence is what stands behind the first fence of a piece, and between both.
func inFence(piece string) (info string, source []byte) {
	first, rest, _ := strings.Cut(piece, "\n")
	opened := fence(first)
	if i := strings.LastIndexByte(strings.TrimRight(rest, "\n"), '\n'); strings.HasPrefix(strings.TrimSpace(rest[i+1:]), opened) {
		rest = rest[:i+1]
	}
	return first[len(opened):], []byte(rest)
}

// nesting is how many quotes and lists a line may begin.
func nesting(line string) (n int) {
	for i := range len(line) {
		switch c := line[i]; {
		case c == '>' || c == '-' || c == '+' || c == '*' || c == ')' || c == '.':
			n++
		case c != ' ' && c != '\t' && (c < '0' || c > '9'):
			return n
		}
	}
	return 0 // a rule, or nothing at all
}

// page collects lines.
type page struct {
	styles Styles
	width  int
	lines  []string

	prefix  string // of each line
	columns int    // of the prefix
	bullet  string // of the next line, in place of the end of its prefix
}

func (p *page) isFull() bool { return len(p.lines) >= MaxLines }

// room is how wide the text is beside the prefix.
func (p *page) room() int { return max(p.width-p.columns, 1) }

// put adds a line behind its prefix.
func (p *page) put(line string) {
	if p.isFull() {
		return
	}
	prefix := p.prefix
	if p.bullet != "" {
		prefix, p.bullet = p.bullet, ""
	}
	if ansi.StringWidth(line) == 0 { // styles may stand there all the same
		line, prefix = "", strings.TrimRight(prefix, " ")
	}
	line = prefix + line
	if ansi.StringWidth(line) > p.width {
		line = ansi.Truncate(line, p.width, "")
	}
	p.lines = append(p.lines, line)
}

// separate puts an empty line between blocks.
func (p *page) separate() {
	if len(p.lines) > 0 && p.bullet == "" && p.lines[len(p.lines)-1] != strings.TrimRight(p.prefix, " ") {
		p.put("")
	}
}

// within draws something that stands further in.
func (p *page) within(prefix, bullet string, columns int, draw func()) {
	if p.width-p.columns-columns < narrowest {
		draw()
		return
	}
	before, wide := p.prefix, p.columns
	if bullet != "" {
		p.bullet = cmp.Or(p.bullet, p.prefix) + bullet
	} else if p.bullet != "" {
		p.bullet += prefix
	}
	p.prefix, p.columns = p.prefix+prefix, p.columns+columns
	draw()
	p.prefix, p.columns, p.bullet = before, wide, ""
}

// plain puts a text as it stands.
func (p *page) plain(source string) {
	for line := range strings.SplitSeq(strings.TrimRight(safe.Text(source), "\n"), "\n") {
		for _, part := range fold(line, p.room()) {
			p.put(line[part.from:part.to])
			if p.isFull() {
				return
			}
		}
	}
}
