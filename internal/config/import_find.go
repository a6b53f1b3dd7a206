package config

import (
	"path/filepath"
	"strings"
)

// group is servers that stand together in a file.
type group struct {
	servers value
	folder  string // from which relative paths start
}

// input is a question that VS Code asks its user.
type input struct {
	variable string // the environment variable in its place
	answer   value  // its default, where that is no password
}

// The keys below which clients describe servers, by where they stand.
const (
	claudeServers = "mcpServers" // Claude and Cursor; in ~/.claude.json also in each project
	codeServers   = "servers"    // VS Code's mcp.json; in settings.json below mcp
	codeSettings  = "mcp"
	codeInputs    = "inputs"
	projects      = "projects" // of ~/.claude.json
)

// finder walks through a file, and skips what does not concern servers.
type finder struct {
	*jsonReader
	im       *importer
	groups   []group
	projects []project
}

// project is what ~/.claude.json knows of one folder.
type project struct {
	folder  string
	servers value
}

// find is the groups of servers in a file, those that win first. What is wrong
// with it as a whole is told, and comes back as an error.
func (im *importer) find(data []byte) ([]group, error) {
	f := &finder{jsonReader: newJSONReader(im.reader, data), im: im}
	if f.kind() != '{' {
		if err := f.skip(); err != nil {
			return nil, err
		}
		return nil, f.stop(0, "is it the configuration of an MCP client?", "the file is JSON, but not an object")
	}
	if err := f.object(f.top); err != nil {
		return nil, err
	}
	if err := f.end(); err != nil {
		return nil, err
	}
	return append(f.project(), f.groups...), nil
}

func (f *finder) top(e entry) error {
	switch {
	case e.key == codeSettings && f.kind() == '{':
		return f.object(func(inner entry) error {
			inner.key = strings.Join([]string{codeSettings, inner.key}, ".")
			return f.member(inner)
		})
	case e.key == projects && f.kind() == '{':
		return f.object(f.inProject)
	}
	return f.member(e)
}

// member reads what describes servers, and skips the rest.
func (f *finder) member(e entry) error {
	switch e.key {
	case claudeServers, codeServers, codeSettings + "." + codeServers:
		v, err := f.value(e, "")
		f.groups = append(f.groups, group{v, f.im.folder})
		return err
	case codeInputs, codeSettings + "." + codeInputs:
		v, err := f.value(e, "")
		if err == nil {
			f.im.readInputs(v)
		}
		return err
	}
	return f.skip()
}

func (f *finder) value(e entry, path string) (value, error) {
	n, err := f.node()
	e.value = n
	return value{path: path}.child(e), err
}

func (f *finder) inProject(p entry) error {
	if f.kind() != '{' {
		return f.skip()
	}
	return f.object(func(e entry) error {
		if e.key != claudeServers {
			return f.skip()
		}
		v, err := f.value(e, projects)
		if err == nil && v.written() && len(v.entries) > 0 {
			f.projects = append(f.projects, project{p.key, v})
		}
		return err
	})
}

// project is the servers of the project that the working folder is in, of
// several the innermost. Those of others are left out.
func (f *finder) project() []group {
	best := -1
	for i, p := range f.projects {
		if within(f.im.work, p.folder) && (best < 0 || len(p.folder) > len(f.projects[best].folder)) {
			best = i
		}
	}
	for i, p := range f.projects {
		if i != best {
			f.im.note(p.servers, "to import them, run this in that folder",
				"%s left out", otherServers(len(p.servers.entries)))
		}
	}
	if best < 0 {
		return nil
	}
	return []group{{f.projects[best].servers, f.projects[best].folder}}
}

func otherServers(n int) string {
	if n == 1 {
		return "one server of another project is"
	}
	return countText(n) + " servers of another project are"
}

func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsAbs(folder) && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// readInputs learns what ${input:ID} stands for.
func (im *importer) readInputs(v value) {
	owner := make(map[string]string) // of each variable
	for _, item := range im.items(v) {
		if !item.written() || item.kind != mapNode {
			continue // nothing refers to it
		}
		m := im.members(item)
		id := m["id"].plainText()
		name := variableName(id)
		if id == "" {
			continue
		}
		if other, twice := owner[name]; twice && other != id {
			im.fail(m["id"], "rename one of them", "the inputs %s and %s would both become the variable %s", called(other), called(id), name)
		}
		owner[name] = id
		in := input{variable: name}
		if !im.flag(m["password"], false) {
			in.answer = m["default"]
		}
		im.inputs[id] = in
	}
}

// members is the entries of a mapping by name, whatever they are called.
func (im *importer) members(v value) map[string]value {
	m := make(map[string]value)
	for _, e := range im.all(v) {
		m[e.name] = e
	}
	return m
}

// variableName is what an environment variable for text would be called: API_KEY
// for api-key.
func variableName(text string) string {
	name := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z':
			return c - 'a' + 'A'
		case c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			return c
		}
		return '_'
	}, text)
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}
