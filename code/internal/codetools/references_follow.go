package codetools

import (
	"slices"
	"sort"
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// A nameUse is what the search remembers of a file: where the name stands, what
// it is bound to, and where it comes from. The tree itself is let go.
type nameUse struct {
	path    string
	python  bool
	wanted  wantedSymbol
	symbols []usedSymbol
	places  []usePlace
	imports []usedImport

	// What the search finds out:
	targets map[binding]bool // names that mean the symbol
	exports map[string]bool  // names under which other files can have it
	owners  map[string]bool  // classes and objects that it is a member of
	hits    map[int]bool     // places in import statements, by offset
}

type usedSymbol struct {
	name  string
	owner string // "" for what is no member
	at    int    // the offset of the name where it is defined
	bound int    // the scope, for what is no member
}

type usePlace struct {
	occurrence
	line, column int
	called       bool
	object       string // what a member is looked up in
	class        string // the class around, where object is self or this
}

type usedImport struct {
	targets  []target
	span     syntax.Span
	reexport bool
	path     string // as the file says it
	takes    bool   // the wanted name is taken from it
}

func newNameUse(f *syntax.File, l *layout, w wantedSymbol) *nameUse {
	u := &nameUse{
		path: f.Path, python: f.Language == syntax.Python, wanted: w,
		targets: map[binding]bool{}, exports: map[string]bool{}, owners: map[string]bool{}, hits: map[int]bool{},
	}
	names := map[string]bool{w.name: true}
	for _, im := range f.Imports {
		i := usedImport{targets: l.targets(f.Path, f.Language, im), span: im.Span, reexport: im.Kind == syntax.ReExport, path: im.Path}
		i.targets = append(i.targets, l.packagesAround(f, im)...)
		i.takes = slices.ContainsFunc(im.Names, func(n syntax.ImportedName) bool { return n.Name == w.name })
		for _, t := range i.targets {
			for _, n := range t.names {
				if n.Name == w.name {
					names[n.Local()] = true
				}
			}
		}
		u.imports = append(u.imports, i)
	}
	s := newScoping(f, names)
	classes := map[int]string{}
	for _, c := range f.Classes {
		classes[c.Span.Start] = c.Qualified
	}
	for _, o := range s.occurrences {
		p := u.place(f, o)
		if in := s.scopes[o.scope].class; in >= 0 && (p.object == "self" || p.object == "cls" || p.object == "this") {
			p.class = classes[s.scopes[in].node.Start()]
		}
		u.places = append(u.places, p)
	}
	if !u.python {
		u.required(f, l)
	}
	u.takeMembers(f)
	for _, symbol := range Symbols(f) {
		if symbol.Simple() == w.name && w.matches(l.moduleName(f), symbol.Name) {
			u.define(symbol)
		}
	}
	for i := range u.places {
		u.places[i].node = syntax.Node{} // so that the tree can go
	}
	return u
}

// required finds what CommonJS imports by calling a function: the variables of
// const a = require("./a"), and the member of const a = require("./b").a.
func (u *nameUse) required(f *syntax.File, l *layout) {
	calls := map[int]syntax.Import{}
	for _, im := range f.Imports {
		if im.Kind != syntax.Require {
			continue
		}
		calls[im.Span.Start] = im
		for i, p := range u.within(im.Span) {
			if p.declares && slices.Contains(im.Locals, p.name) {
				u.within(im.Span)[i].imports = true
			}
		}
	}
	for i := range u.places {
		p := &u.places[i]
		if !p.member || p.name != u.wanted.name {
			continue
		}
		if im, ok := calls[p.node.Parent().Field("object").Start()]; ok && memberOf(p.node, im.Span) {
			u.memberImport(f, l, im, p)
		}
	}
}

// within are the places in a span. They are in the order of the text.
func (u *nameUse) within(s syntax.Span) []usePlace {
	at := func(offset int) int {
		return sort.Search(len(u.places), func(i int) bool { return u.places[i].start >= offset })
	}
	first := at(s.Start)
	return u.places[first:max(first, at(s.End))]
}

// memberOf says whether a member is looked up right in what a call returns.
func memberOf(n syntax.Node, call syntax.Span) bool {
	o := n.Parent().Field("object")
	return o.OK() && o.Start() == call.Start && o.End() == call.End
}

// memberImport takes a member of a required module for a name that is imported.
func (u *nameUse) memberImport(f *syntax.File, l *layout, im syntax.Import, p *usePlace) {
	p.member, p.imports, p.bound = false, true, unbound
	n := syntax.ImportedName{Name: u.wanted.name}
	if d := p.node.Parent().Parent(); d.Kind() == "variable_declarator" && d.Field("name").Kind() == "identifier" {
		n.Alias = d.Field("name").Text()
		im.Span = f.Span(d.Start(), d.End())
		if first := u.within(im.Span); len(first) > 0 && first[0].start == d.Start() {
			first[0].imports = true
		}
	}
	for _, t := range l.targets(f.Path, f.Language, im) {
		t.names = []syntax.ImportedName{n}
		u.imports = append(u.imports, usedImport{targets: []target{t}, span: im.Span})
	}
}

func (u *nameUse) place(f *syntax.File, o occurrence) usePlace {
	p := usePlace{occurrence: o, called: isCalled(o.node)}
	p.start = o.node.Start()
	p.line, p.column = f.Position(p.start)
	if o.member {
		p.object = objectOf(o.node)
	}
	return p
}

// define takes down a symbol at the first place in it that declares its name.
func (u *nameUse) define(s Symbol) {
	for _, p := range u.within(s.Whole) {
		if p.declares && !p.imports && p.name == u.wanted.name {
			d := usedSymbol{name: s.Name, at: p.start, bound: p.bound}
			if i := strings.LastIndexByte(s.Name, '.'); i >= 0 {
				d.owner = s.Name[:i]
			}
			if !p.member {
				d.owner = u.ownerOf(p, d.owner)
			}
			u.symbols = append(u.symbols, d)
			return
		}
	}
}

// ownerOf keeps the owner of what is declared in a class, and forgets that of
// what is declared in a function: only a variable in it.
func (u *nameUse) ownerOf(p usePlace, owner string) string {
	if p.inClass {
		return owner
	}
	return ""
}

// begin says what the name means in the file that defines it. Where nobody
// does, it means what is declared nowhere, or imported.
func (u *nameUse) begin(defined bool) {
	if !defined {
		u.targets[binding{unbound, u.wanted.name}] = true
		for _, p := range u.places {
			if p.imports && p.declares && p.name == u.wanted.name {
				u.targets[binding{p.bound, p.name}] = true
			}
		}
		return
	}
	for _, s := range u.symbols {
		if s.owner != "" {
			u.owners[s.owner] = true
			if s.owner == "exports" || s.owner == "module.exports" || s.owner == "module" {
				u.exports[u.wanted.name] = true
			}
		}
		if s.bound != unbound {
			u.targets[binding{s.bound, u.wanted.name}] = true
		}
		if s.bound == 0 {
			u.exports[u.wanted.name] = true
		}
	}
}

// follow finds out what the file has from others. It says whether there was
// something new.
func (u *nameUse) follow(byPath map[string]*nameUse) bool {
	before := len(u.targets) + len(u.exports) + len(u.hits)
	for _, im := range u.imports {
		for _, t := range im.targets {
			other := byPath[t.path]
			if other == nil || len(other.exports) == 0 {
				continue
			}
			for _, n := range t.names {
				u.take(other, im, n)
			}
			if !u.python && t.module == u.wanted.name && other.exports[t.module] {
				u.bind(im, t.module) // what the other module consists of
			}
		}
	}
	return len(u.targets)+len(u.exports)+len(u.hits) > before
}

// take is one name of an import.
func (u *nameUse) take(other *nameUse, im usedImport, n syntax.ImportedName) {
	switch {
	case n.Name == "*":
		for name := range other.exports {
			u.targets[binding{unbound, name}] = true
			u.exports[name] = true
		}
	case other.exports[n.Name] || n.Name == "default" && other.exports[n.Local()]:
		u.bind(im, n.Local())
		if im.reexport {
			u.exports[n.Local()] = true
		}
	}
}

// bind makes a name of an import statement mean the symbol.
func (u *nameUse) bind(im usedImport, local string) {
	for _, p := range u.within(im.span) {
		switch {
		case p.member:
		case p.name == local && p.declares:
			u.targets[binding{p.bound, local}] = true
			if p.bound == 0 {
				u.exports[local] = true
			}
			u.hits[p.start] = true
		case p.name == u.wanted.name && p.imports:
			u.hits[p.start] = true
		}
	}
}

// modulesOf are the names under which the file has whole modules that have the
// symbol.
func (u *nameUse) modulesOf(byPath map[string]*nameUse) map[string]bool {
	names := map[string]bool{}
	for _, im := range u.imports {
		for _, t := range im.targets {
			if other := byPath[t.path]; t.module != "" && other != nil && other.exports[u.wanted.name] {
				names[t.module] = true
			}
		}
	}
	return names
}

// found are the places of the file that mean the symbol, or may.
func (u *nameUse) found(byPath map[string]*nameUse, owners map[string]bool, defined bool) (all []ReferenceOut) {
	modules := u.modulesOf(byPath)
	symbols := map[int]string{}
	for _, s := range u.symbols {
		symbols[s.at] = s.name
	}
	for _, p := range u.places {
		r := ReferenceOut{Path: u.path, Line: p.line, Column: p.column, Kind: isReference, By: byScope}
		if p.called {
			r.Kind = isCall
		}
		if name, ok := symbols[p.start]; ok {
			r.Kind, r.Symbol = isDefinition, name
			all = append(all, r)
			continue
		}
		ok := false
		switch {
		case u.hits[p.start]:
			r.Kind, ok = isImport, true
		case p.imports:
			r.Kind, ok = isImport, u.targets[binding{p.bound, p.name}]
		case p.member:
			r.By, ok = u.member(p, modules, owners, defined)
		default:
			ok = u.targets[binding{p.bound, p.name}]
		}
		if ok && p.declares && r.Kind != isImport {
			r.Kind = isDefinition
		}
		if ok {
			all = append(all, r)
		}
	}
	return all
}

// member says whether a member of that name may be the symbol, and how that is
// known.
func (u *nameUse) member(p usePlace, modules, owners map[string]bool, defined bool) (by string, ok bool) {
	switch {
	case p.name != u.wanted.name:
		return "", false
	case modules[p.object] || p.class != "" && u.owners[p.class] || p.object != "" && (u.owners[p.object] || owners[simple(p.object)] && p.object == simple(p.object)):
		return byScope, true
	case !defined:
		return byName, true
	case p.declares && p.class == "":
		return "", false // another class's
	}
	return byName, len(owners) > 0
}
