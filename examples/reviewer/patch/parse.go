package patch

import (
	"fmt"
	"strconv"
	"strings"
)

// A SyntaxError says where a text is no unified diff.
type SyntaxError struct {
	Line    int // from 1
	Problem string
}

// Error is "line 7: PROBLEM".
func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Problem) }

// Parse finds the files in a diff. Text before and between them, such as a
// commit's message, is passed over; a text without any file is an error.
func Parse(text string) ([]File, error) {
	p := parser{lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n")}
	for p.at < len(p.lines) {
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	p.finish()
	if len(p.files) == 0 {
		return nil, &SyntaxError{1, `there is no file in it: a file begins with "diff --git a/NAME b/NAME", or with "--- NAME" and "+++ NAME"`}
	}
	return p.files, nil
}

// A parser goes from line to line.
type parser struct {
	lines []string
	at    int // index of the line that comes next
	files []File
	file  *File // that the lines are about; nil: none yet
	git   bool  // file began with git's header, and the names may follow
	after int   // the newest line of the file that a hunk has shown
}

func (p *parser) fail(format string, a ...any) error {
	return &SyntaxError{p.at + 1, fmt.Sprintf(format, a...)}
}

// next reads a header's line, or a whole hunk.
func (p *parser) next() error {
	line := strings.TrimSuffix(p.lines[p.at], "\r")
	switch {
	case strings.HasPrefix(line, "diff --git "):
		p.begin(nameOfBoth(line[len("diff --git "):]))
		p.git = true
	case strings.HasPrefix(line, "--- ") && p.at+1 < len(p.lines) && strings.HasPrefix(p.lines[p.at+1], "+++ "):
		p.names(line[4:], strings.TrimSuffix(p.lines[p.at+1], "\r")[4:])
		p.at++
	case strings.HasPrefix(line, "@@ "):
		return p.hunk(line)
	case p.file != nil && len(p.file.Lines) == 0:
		p.extended(line)
	}
	p.at++
	return nil
}

// begin begins a file, which has to be named now or by the lines that follow.
func (p *parser) begin(name string) {
	p.finish()
	p.file, p.git, p.after = &File{Name: name}, false, 0
}

// finish keeps the file that was being read.
func (p *parser) finish() {
	if p.file != nil && p.file.Name != "" {
		if p.file.Old == p.file.Name {
			p.file.Old = ""
		}
		p.files = append(p.files, *p.file)
	}
	p.file = nil
}

// names reads the two lines in front of the hunks. They belong to the file that
// git's header has begun, unless they say otherwise.
func (p *parser) names(before, after string) {
	old, name := nameOf(before, "a/"), nameOf(after, "b/")
	deleted := name == ""
	if deleted {
		name, old = old, ""
	}
	if p.file == nil || !p.git || p.file.Binary || p.file.Name != "" && p.file.Name != name {
		p.begin("")
	}
	p.git = false
	p.file.Old, p.file.Name, p.file.Deleted = old, name, deleted
}

// extended reads what git says between its header and the hunks.
func (p *parser) extended(line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch {
	case word == "deleted":
		p.file.Deleted = true
	case word == "Binary" && strings.HasSuffix(line, " differ"), line == "GIT binary patch":
		p.file.Binary = true
	case word == "rename" || word == "copy":
		switch side, name, _ := strings.Cut(rest, " "); side {
		case "from":
			p.file.Old = nameOf(name, "")
		case "to":
			p.file.Name = nameOf(name, "")
		}
	}
}

// hunk reads one, by the counts of its header.
func (p *parser) hunk(header string) error {
	old, start, count, ok := ranges(header)
	if !ok {
		return p.fail("a hunk begins with @@ -LINE,COUNT +LINE,COUNT @@")
	}
	if p.file == nil || p.file.Name == "" {
		return p.fail("a hunk stands before the name of its file")
	}
	if start < p.after {
		return p.fail("the hunk begins at line %d, and the one before it ends at %d", start, p.after)
	}
	number := max(start, 1)
	p.at++
	for ; old > 0 || count > 0; p.at++ {
		if p.at == len(p.lines) {
			return &SyntaxError{p.at, "the diff ends in the middle of a hunk"}
		}
		line := p.lines[p.at]
		if strings.HasPrefix(line, `\`) { // "\ No newline at end of file"
			continue
		}
		op, text := Kept, "" // an empty line may have lost its only space
		if line != "" {
			op, text = Op(line[0]), line[1:]
		}
		l := Line{Op: op, Text: strings.TrimSuffix(text, "\r")}
		switch {
		case op == Removed && old > 0:
			old--
		case op == Added && count > 0:
			count--
			l.Number = number
		case (op == Kept || line == "\r") && old > 0 && count > 0:
			l.Op = Kept
			old, count = old-1, count-1
			l.Number = number
		default:
			return p.fail("expected %d more lines of the old file and %d of the new one", old, count)
		}
		if l.Number > 0 {
			number++
			p.after = number
		}
		p.file.Lines = append(p.file.Lines, l)
	}
	return nil
}

// most is the largest number of a line, or of lines: no file has more.
const most = 1 << 30

// ranges reads "@@ -1,2 +3,4 @@".
func ranges(header string) (oldCount, start, count int, ok bool) {
	fields := strings.Fields(header)
	if len(fields) < 4 || fields[3] != "@@" {
		return 0, 0, 0, false
	}
	_, oldCount, ok1 := span(fields[1], '-')
	start, count, ok2 := span(fields[2], '+')
	return oldCount, start, count, ok1 && ok2
}

// span reads "-1,2"; without a count it is 1.
func span(field string, sign byte) (start, count int, ok bool) {
	if field[0] != sign {
		return 0, 0, false
	}
	first, second, has := strings.Cut(field[1:], ",")
	start, err := strconv.Atoi(first)
	count = 1
	if has && err == nil {
		count, err = strconv.Atoi(second)
	}
	return start, count, err == nil && start >= 0 && start <= most && count >= 0 && count <= most
}
