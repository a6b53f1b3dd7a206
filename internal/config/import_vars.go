package config

import (
	"path/filepath"
	"regexp"
	"strings"
)

// Clients fill in ${…} as they read: Claude Code ${NAME} and ${NAME:-DEFAULT},
// Cursor and VS Code ${env:NAME}, ${workspaceFolder} and ${userHome}, VS Code
// ${input:ID}. What names an environment variable stays a reference to it; what
// names a folder becomes that folder.

// piece is a part of a text: literal, or what stands between ${ and }.
type piece struct {
	text      string
	reference bool
}

// pieces takes a text apart. A ${ without its } is literal.
func pieces(text string) []piece {
	var parts []piece
	for text != "" {
		before, after, found := strings.Cut(text, "${")
		inside, rest, closed := strings.Cut(after, "}")
		if !found || !closed {
			return append(parts, piece{text: text})
		}
		if before != "" {
			parts = append(parts, piece{text: before})
		}
		parts = append(parts, piece{inside, true})
		text = rest
	}
	return parts
}

// variable is what a reference comes to: text that is known now, or an
// environment variable.
type variable struct {
	text string // literal, where name is empty
	name string
	// fallback is in its place where it is not set.
	fallback string
	has      bool
	bare     bool // written as ${NAME}, which a program may mean for itself
}

var (
	bareName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	ofEditors = regexp.MustCompile(`^[A-Za-z]+:`)
)

// variable finds out what a reference names; false where that is nothing that a
// client would fill in. What only an editor knows is a problem.
func (im *importer) variable(v value, reference, folder string) (variable, bool) {
	switch reference {
	case "workspaceFolder", "CLAUDE_PROJECT_DIR":
		return variable{text: folder}, true
	case "workspaceFolderBasename":
		return variable{text: filepath.Base(folder)}, true
	case "userHome":
		return variable{text: im.home}, true
	case "pathSeparator", "/":
		return variable{text: string(filepath.Separator)}, true
	}
	if name, ok := strings.CutPrefix(reference, "env:"); ok && bareName.MatchString(name) {
		return variable{name: name}, true
	}
	if id, ok := strings.CutPrefix(reference, "input:"); ok {
		return im.input(v, id), true
	}
	name, fallback, has := strings.Cut(reference, ":-")
	if bareName.MatchString(name) {
		return variable{name: name, fallback: fallback, has: has, bare: !has}, true
	}
	if ofEditors.MatchString(reference) {
		im.fail(v, "write what is meant in its place", "${%s} is filled in by an editor, and means nothing here", showKey(reference))
		return variable{}, true
	}
	return variable{}, false
}

// input is the variable in place of an answer that VS Code would ask for.
func (im *importer) input(v value, id string) variable {
	in, ok := im.inputs[id]
	if !ok {
		in.variable = variableName(id)
	}
	name := variable{name: in.variable}
	if in.answer.written() {
		name.fallback, name.has = im.text(in.answer)
	}
	if _, set := im.env.Lookup(in.variable); !set && !name.has && !im.told[in.variable] {
		im.warn(v, "set "+in.variable+" before the gateway starts", "the answer to the input %s is expected in the environment variable %s", called(id), in.variable)
		if im.told != nil {
			im.told[in.variable] = true
		}
	}
	return name
}

// value is what a variable comes to now; ok is false where it is not set and has
// no default.
func (im *importer) value(x variable) (text string, ok bool) {
	if text, ok = im.env.Lookup(x.name); ok && text != "" || !x.has {
		return text, ok
	}
	return x.fallback, true
}

// referring is text for env and headers, in which references stay. Literal text
// that looks like one is escaped.
func (im *importer) referring(v value, text, folder string) string {
	var b strings.Builder
	for _, p := range pieces(text) {
		if !p.reference {
			b.WriteString(escape(p.text))
			continue
		}
		x, ok := im.variable(v, p.text, folder)
		switch {
		case !ok:
			b.WriteString(escape("${" + p.text + "}"))
		case x.name == "":
			b.WriteString(escape(x.text))
		case x.has && !im.set(x.name):
			im.note(v, "", "%s is not set, so its default stands in its place", x.name)
			b.WriteString(escape(x.fallback))
		case strings.HasSuffix(b.String(), "$"):
			im.fail(v, "leave the $ out, or write it into the variable", "a $ cannot stand before a reference, where $${ is a plain ${")
		default:
			b.WriteString("${env:" + x.name + "}")
		}
	}
	return b.String()
}

func (im *importer) set(name string) bool {
	text, ok := im.env.Lookup(name)
	return ok && text != ""
}

func escape(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// filled is text for where no reference may stand: variables that are plainly
// harmless are filled in now, others are a problem. What own holds, a program
// finds in its environment, and is left to it.
func (im *importer) filled(v value, text, folder string, own map[string]value) string {
	var b strings.Builder
	for _, p := range pieces(text) {
		if !p.reference {
			b.WriteString(p.text)
			continue
		}
		x, ok := im.variable(v, p.text, folder)
		switch {
		case !ok, x.bare && own[x.name].written():
			b.WriteString("${" + p.text + "}")
		case x.name == "":
			b.WriteString(x.text)
		default:
			b.WriteString(im.fillIn(v, x))
		}
	}
	return b.String()
}

func (im *importer) fillIn(v value, x variable) string {
	text, ok := im.value(x)
	switch {
	case !ok:
		im.fail(v, "set it, or write what is meant in its place", "the environment variable %s is not set", x.name)
	case text == x.fallback && x.has, harmlessVariable(x.name, text):
		im.note(v, "", "%s is written out as it is now, since %s is not read again", x.name, v.title())
		return text
	default:
		im.fail(v, "let the program read it from its environment: write it into env, or into headers for a url",
			"%s may be a secret, and would show in process lists and logs", x.name)
	}
	return ""
}

var folderVariables = map[string]bool{
	"HOME": true, "USER": true, "LOGNAME": true, "PWD": true, "SHELL": true, "TMPDIR": true, "TMP": true, "TEMP": true,
	"APPDATA": true, "LOCALAPPDATA": true, "PROGRAMFILES": true, "USERPROFILE": true, "SYSTEMROOT": true,
	"XDG_CONFIG_HOME": true, "XDG_DATA_HOME": true, "XDG_CACHE_HOME": true, "XDG_STATE_HOME": true,
}

func harmlessVariable(name, text string) bool { return folderVariables[name] || harmless(name, text) }
