package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/parleyhq/parley/internal/config"
)

// checkImport shows what parley.yaml would say of imported servers. The
// configuration at path says which ids are taken; it may be absent unless it was
// named.
func checkImport(t *terminal, f *importFlags, path string, named bool) error {
	name, o, err := importTarget(t, f, path, named)
	if _, bad := errors.AsType[*config.Error](err); err != nil && !bad {
		return err
	}
	imports, wrong := config.ImportAll(f.files, o)
	if err := errors.Join(err, wrong); err != nil {
		return t.allProblems(err)
	}
	t.tellImports(imports)
	found := 0
	for _, im := range imports {
		for _, s := range im.Servers {
			warnImported(t, im.Name, s)
		}
		found += len(im.Servers)
	}
	text := ""
	if found > 0 {
		text = config.Fragment(name, imports)
	}
	if t.json.set && t.json.value {
		return t.writeValue(importSummaryOf(imports, text))
	}
	_, err = fmt.Fprint(t.out, text)
	return err
}

// importTarget is the space that servers would join, and what is there already.
func importTarget(t *terminal, f *importFlags, path string, named bool) (string, config.ImportOptions, error) {
	o := config.ImportOptions{Listen: config.DefaultListen, Show: true}
	name := f.space
	if name == "" {
		name = defaultSpace
	}
	c, err := config.Load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !named:
		return name, o, nil
	case err != nil:
		return name, o, orNoConfig(path, err)
	}
	for _, w := range c.Warnings {
		writeProblem(t.err, w, path+": warning")
	}
	name, space, err := f.target(c)
	if err != nil {
		return "", o, err
	}
	o.Taken, o.Listen = space.IDs(), c.Listen
	return name, o, nil
}

// warnImported says that a server could not be started from here and now.
func warnImported(t *terminal, file string, s config.ImportedServer) {
	if err := bridgeServer(s.Server).Check(); err != nil {
		e := asError(err)
		writeProblem(t.err, config.Problem{Line: s.Line, Column: s.Column, Message: s.ID + ": " + e.Message, Hint: e.Hint}, file+": warning")
	}
}

// importSummary is what --json shows.
type importSummary struct {
	OK       bool              `json:"ok"`
	Servers  []importedSummary `json:"servers"`
	Fragment string            `json:"fragment"`
}

type importedSummary struct {
	ID   string `json:"participant"`
	File string `json:"file"`
	Line int    `json:"line"`
}

func importSummaryOf(imports []*config.Imported, fragment string) importSummary {
	s := importSummary{OK: true, Servers: []importedSummary{}, Fragment: fragment}
	for _, im := range imports {
		for _, one := range im.Servers {
			s.Servers = append(s.Servers, importedSummary{one.ID, im.Name, one.Line})
		}
	}
	return s
}
