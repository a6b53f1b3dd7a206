package codetools

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// A search is for what a symbol depends on.
type search struct {
	file    *syntax.File
	most    int
	found   []DependencyOut
	more    bool
	shown   int                 // bytes of code
	imports []syntax.Import     // those that are used, in the order of the file
	used    map[string]bool     // names that were looked up and are not of this file's own
	members map[string][]string // what was looked up in names that may be modules

	index *index
	seen  map[int]bool // offsets of symbols that are in the answer
}

// dependencies finds what s uses of its own file and, if transitive, what that
// uses, and so on, the nearest first.
func dependencies(f *syntax.File, s Symbol, transitive bool, most int) *search {
	d := &search{
		file: f, most: most, used: map[string]bool{}, members: map[string][]string{},
		index: indexOf(f), seen: map[int]bool{s.Whole.Start: true},
	}
	queue := []Symbol{s}
	for len(queue) > 0 {
		next := d.uses(queue[0])
		queue = queue[1:]
		for _, n := range next {
			if s.Whole.Start <= n.Span.Start && n.Span.End <= s.Whole.End {
				continue // it is shown with what it lies in
			}
			if !d.add(f, n, "") {
				break
			}
			if transitive {
				queue = append(queue, n)
			}
		}
	}
	d.imported()
	return d
}

// lookUp is what a name at the top of the file, or "Class.method", means. What
// a require declares is an import.
func (d *search) lookUp(name string) (Symbol, bool) {
	i, ok := d.index.byName[name]
	if !ok {
		return Symbol{}, false
	}
	s := d.index.all[i]
	if s.Function < 0 && s.Class < 0 && d.index.imports[name] {
		return Symbol{}, false
	}
	return s, true
}

// inScope is what a name means in a symbol: what the functions around have under
// it, the nearest first, or else the file.
func (d *search) inScope(around, name string) (Symbol, bool) {
	for {
		i := strings.LastIndexByte(around, '.')
		if i < 0 {
			return d.lookUp(name)
		}
		around = around[:i]
		if outer, ok := d.lookUp(around); ok && outer.Function >= 0 {
			if s, ok := d.lookUp(around + "." + name); ok {
				return s, true
			}
		}
	}
}

// uses are the symbols that the code of s names and that are new.
func (d *search) uses(s Symbol) (next []Symbol) {
	local := declaredIn(d.file, s)
	self := selfNames(d.file, s)
	for id := range d.file.Identifiers(s.Whole) {
		var t Symbol
		var ok bool
		switch {
		case id.Member:
			if owner := d.owner(id, s, self); owner != "" && !local[owner] {
				t, ok = d.lookUp(owner + "." + id.Name)
				d.members[owner] = append(d.members[owner], id.Name)
			}
		case local[id.Name]:
		default:
			t, ok = d.inScope(s.Name, id.Name)
			if !ok {
				d.used[id.Name] = true
			}
		}
		if ok && !d.seen[t.Whole.Start] {
			d.seen[t.Whole.Start] = true
			next = append(next, t)
		}
	}
	return next
}

// owner is the class, object or module in which a member is looked up, as far
// as the text right before it tells: by its name, or as the receiver, self or
// this.
func (d *search) owner(id syntax.Identifier, s Symbol, self []string) string {
	before := bytes.TrimRight(d.file.Source[max(s.Whole.Start, id.Start-maxName):id.Start], ". \t\r\n?!")
	name := nameAtEnd(before)
	if bytes.HasSuffix(before[:len(before)-len(name)], []byte(".")) {
		return "" // a member of a member
	}
	if slices.Contains(self, name) && s.Function >= 0 {
		return ownerOf(d.file, &d.file.Functions[s.Function])
	}
	return name
}

// nameAtEnd is the name that a text ends in; "" for none.
func nameAtEnd(text []byte) string {
	begin := len(text)
	for begin > 0 && isNameByte(text[begin-1]) {
		begin--
	}
	return string(text[begin:])
}

func isNameByte(c byte) bool {
	return c == '_' || c == '$' || c == '#' || c >= utf8.RuneSelf || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// ownerOf is the class that a function belongs to, or in Go the receiver's
// type; "" for none.
func ownerOf(f *syntax.File, fn *syntax.Function) string {
	if fn.Class >= 0 {
		return f.Classes[fn.Class].Qualified
	}
	return fn.Owner
}

// imported keeps the imports whose names are used.
func (d *search) imported() {
	for _, i := range d.file.Imports {
		if slices.ContainsFunc(i.Locals, func(name string) bool { return d.used[name] }) {
			d.imports = append(d.imports, i)
		}
	}
}

// importLines are the statements, each once. In Go they are the paths alone.
func (d *search) importLines() (lines []string) {
	for _, i := range d.imports {
		text := bounded(d.file.Text(i.Span), 500)
		if !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	return lines
}

// add shows a symbol, unless enough is shown.
func (d *search) add(f *syntax.File, s Symbol, path string) bool {
	if len(d.found) >= d.most || d.shown > maxShown {
		d.more = true
		return false
	}
	out := dependencyOut(f, s, path)
	d.shown += len(out.Code)
	d.found = append(d.found, out)
	return true
}

func dependencyOut(f *syntax.File, s Symbol, path string) DependencyOut {
	return DependencyOut{Path: path, Name: s.Name, Kind: s.Kind, Line: s.Whole.Line, Code: bounded(f.Text(wholeLines(f, s.Whole)), maxDependency)}
}

// bounded cuts a text at so many bytes, at the end of a line if it can.
func bounded(text string, most int) string {
	if len(text) <= most {
		return text
	}
	text = text[:most]
	if i := strings.LastIndexByte(text, '\n'); i > most/2 {
		return text[:i+1]
	}
	return strings.ToValidUTF8(text, "")
}
