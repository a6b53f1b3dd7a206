package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/parleyhq/parley"
)

// MaxImportBytes is the largest configuration of a client that is read: some keep
// years of history beside their servers.
const MaxImportBytes = 32 << 20

// ImportOptions say what the servers of other programs are imported into. The
// zero value is this process, and a space that is empty.
type ImportOptions struct {
	// Taken are the ids that cannot be given any more. Those that are given are
	// added to it.
	Taken map[string]bool

	// Listen is where the gateway will listen: what leads there would be the room as
	// a server of itself, and is left out.
	Listen string

	// Show is for looking at what would be imported: a variable that is not set
	// is a warning then, and stands for nothing.
	Show bool

	Lookup func(name string) (string, bool) // finds an environment variable; nil is os.LookupEnv
	Home   string                           // ${userHome}; empty is this user's
	Work   string                           // the folder whose project counts; empty is the current one
}

// Imported is what was found in the configuration of one client.
type Imported struct {
	Name     string // of the file
	Servers  []ImportedServer
	Warnings []Problem // what is left out, or may not work
	Notes    []Problem // what else was decided, as new names
}

// ImportedServer is an MCP server as another program describes it.
type ImportedServer struct {
	ID     string // as a participant
	Server *MCPServer

	Line, Column int // where the file names it

	node *node // what parley.yaml would say of it
}

// Import reads the MCP servers that the configuration of Claude Desktop, Claude
// Code, Cursor or VS Code at path describes. The error is an [*Error].
func Import(path string, o ImportOptions) (*Imported, error) {
	data, _, err := readFile(path, MaxImportBytes)
	if err != nil {
		e := unreadable(path, err)
		e.Problems[0].Hint = ""
		return nil, e
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	return ParseImport(path, data, filepath.Dir(abs), o)
}

// ParseImport is [Import] from memory, of a file in the folder dir.
func ParseImport(name string, data []byte, dir string, o ImportOptions) (*Imported, error) {
	im := newImporter(name, dir, o)
	switch {
	case len(data) > MaxImportBytes:
		im.problems = []Problem{{Message: fmt.Sprintf("the file is larger than %s", sizeText(MaxImportBytes))}}
	default:
		im.read(bytes.TrimPrefix(data, []byte("\ufeff")))
	}
	if len(im.problems) > 0 {
		return nil, &Error{Name: name, Problems: tidy(im.problems)}
	}
	im.found.Warnings, im.found.Notes = tidy(im.warnings), tidy(im.notes)
	return im.found, nil
}

// AddTo adds the servers to a space. Their ids have to be free there.
func (im *Imported) AddTo(s *Space) {
	for _, server := range im.Servers {
		s.MCPServers[server.ID] = server.Server
	}
}

// IDs is who is in the space: what [ImportOptions.Taken] begins with.
func (s *Space) IDs() map[string]bool {
	ids := make(map[string]bool, len(s.Participants)+len(s.MCPServers))
	for id := range s.Participants {
		ids[id] = true
	}
	for id := range s.MCPServers {
		ids[id] = true
	}
	for id := range s.Models {
		ids[id] = true
	}
	return ids
}

// importer reads one file.
type importer struct {
	*reader
	found  *Imported
	notes  []Problem
	taken  map[string]bool
	inputs map[string]input // by id
	folder string           // ${workspaceFolder}, from which relative paths start
	home   string
	work   string
	listen string
}

func newImporter(name, dir string, o ImportOptions) *importer {
	im := &importer{
		reader: &reader{name: name, others: true, env: Env{Lookup: o.Lookup}},
		found:  &Imported{Name: name}, taken: o.Taken, inputs: make(map[string]input), home: o.Home, work: o.Work, listen: o.Listen,
	}
	if o.Show {
		im.told = make(map[string]bool)
	}
	if im.env.Lookup == nil {
		im.env.Lookup = os.LookupEnv
	}
	if im.taken == nil {
		im.taken = make(map[string]bool)
	}
	if im.home == "" {
		im.home, _ = os.UserHomeDir()
	}
	if im.work == "" {
		im.work, _ = os.Getwd()
	}
	im.folder = dir
	if base := filepath.Base(dir); base == ".vscode" || base == ".cursor" {
		im.folder = filepath.Dir(dir)
	}
	return im
}

// noteKey is note at the key instead of its value.
func (im *importer) noteKey(v value, hint, format string, args ...any) {
	v.node = nil
	im.note(v, hint, format, args...)
}

func (im *importer) note(v value, hint, format string, args ...any) {
	im.notes = append(im.notes, v.problem(hint, format, args...))
}

// read finds the servers, gives them ids, and translates them.
func (im *importer) read(data []byte) {
	groups, err := im.find(data)
	if err != nil {
		return
	}
	if len(groups) == 0 {
		im.problems = append(im.problems, Problem{Message: "the file describes no MCP servers",
			Hint: "they stand below mcpServers (Claude, Cursor) or servers (VS Code)"})
		return
	}
	seen := make(map[string]int) // the line of each name
	for _, g := range groups {
		for _, v := range im.all(g.servers) {
			if first, twice := seen[v.name]; twice {
				im.noteKey(v, "", "%s is left out, since line %d describes it too", called(v.name), first)
				continue
			}
			seen[v.name] = v.line
			im.server(v, g.folder)
		}
	}
	if len(seen) == 0 && len(im.problems) == 0 {
		im.note(groups[0].servers, "", "the file describes no MCP servers")
	}
}

// server imports one.
func (im *importer) server(v value, folder string) {
	if !im.is(v, mapNode) {
		if !v.written() {
			im.failKey(v, "write command: PROGRAM, or url: http://…", "%s is empty", called(v.name))
		}
		return
	}
	keys := im.members(v)
	if im.skipped(v, keys) {
		return
	}
	id := im.id(v)
	v.name = id
	v.node = im.translate(v, keys, folder)
	im.env.Dir = folder
	s := im.reader.server(v, Strict)
	im.found.Servers = append(im.found.Servers, ImportedServer{ID: id, Server: s, Line: v.line, Column: v.col, node: v.node})
}

// skipped reports whether a server is one that is not for us.
func (im *importer) skipped(v value, keys map[string]value) bool {
	if im.flag(keys["disabled"], false) {
		im.noteKey(v, "", "%s is disabled, and left out", called(v.name))
		return true
	}
	if strings.EqualFold(keys["type"].plainText(), "sse") {
		im.warn(keys["type"], "if the server speaks Streamable HTTP too, write type http, with the url for that",
			"%s is left out: it is spoken to over the HTTP+SSE transport of 2024, which Parley does not speak", called(v.name))
		return true
	}
	if im.isParley(keys) {
		v.node = nil
		im.warn(v, "to reach another gateway's room, write its url into mcp_servers",
			"%s is left out: it is Parley, and a room cannot be a server of itself", called(v.name))
		return true
	}
	return false
}

// plainText is the text of a value that is text, else empty.
func (v value) plainText() string {
	if v.written() && v.kind == stringNode {
		return v.text
	}
	return ""
}

// id is what a server is called as a participant: its name, made fit where need
// be, and a number where that is taken.
func (im *importer) id(v value) string {
	base := importID(v.name)
	id := base
	for n := 2; im.taken[id] || id == "parley"; n++ {
		suffix := fmt.Sprintf("-%d", n)
		id = strings.TrimRight(base[:min(len(base), 64-len(suffix))], ".-") + suffix
	}
	im.taken[id] = true
	if id != v.name {
		im.noteKey(v, "", "%s becomes %s", called(v.name), id)
	}
	return id
}

// called is a name as messages show it: in quotes, and no longer than they can
// bear.
func called(name string) string {
	if r := []rune(name); len(r) > 40 {
		name = string(r[:40]) + "…"
	}
	return strconv.Quote(name)
}

// importID is a valid id that looks like name.
func importID(name string) string {
	if parley.ValidParticipantID(name) {
		return name
	}
	var b strings.Builder
	for _, c := range strings.ToLower(name) {
		odd := c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z')
		switch {
		case !odd:
			b.WriteRune(c)
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() == 64 {
			break
		}
	}
	if id := strings.Trim(b.String(), ".-"); id != "" {
		return id
	}
	return "server"
}

// ImportAll imports several files, all into one space. Its error is every file's,
// joined.
func ImportAll(paths []string, o ImportOptions) ([]*Imported, error) {
	o.Taken = maps.Clone(o.Taken)
	if o.Taken == nil {
		o.Taken = make(map[string]bool)
	}
	var all []*Imported
	var errs []error
	for _, path := range paths {
		im, err := Import(path, o)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, im)
	}
	return all, errors.Join(errs...)
}
