package codetools

import (
	"path"
	"slices"
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// A target is what an import means within the project.
type target struct {
	path string // a file, or in Go a folder
	// names are what is taken of it, "*" for all.
	names []syntax.ImportedName
	// module is how the file calls the target as a whole, perhaps with dots; ""
	// where it does not.
	module string
}

// targets are the modules of the project that an import means; none for what
// lies outside.
func (l *layout) targets(file string, language syntax.Language, im syntax.Import) []target {
	switch language {
	case syntax.Go:
		if dir, ok := l.goDir(im.Path); ok {
			t := target{path: dir}
			if len(im.Locals) > 0 {
				t.module = im.Locals[0]
			}
			return []target{t}
		}
		return nil
	case syntax.Python:
		return l.pythonTargets(file, im)
	}
	return l.scriptTargets(file, im)
}

func (l *layout) pythonTargets(file string, im syntax.Import) (all []target) {
	base := l.pythonModule(file, im.Path)
	if im.Kind != syntax.FromImport {
		if f, ok := l.pythonFile(base); ok {
			local := im.Alias
			if local == "" {
				local = im.Path
			}
			all = append(all, target{path: f, module: local})
		}
		return all
	}
	var own target
	for _, n := range im.Names {
		if f, ok := l.pythonFile(path.Join(base, n.Name)); ok && base != "" && n.Name != "*" {
			all = append(all, target{path: f, module: n.Local()})
		} else {
			own.names = append(own.names, n)
		}
	}
	if f, ok := l.pythonFile(base); ok && len(own.names) > 0 {
		own.path = f
		all = append(all, own)
	}
	return all
}

// pythonModule is the path without an ending at which a module lies: below the
// folder that the file's package lies in, or one above it, or src. It is "" for
// what lies in none.
func (l *layout) pythonModule(file, module string) string {
	dir := path.Dir(file)
	name := strings.TrimLeft(module, ".")
	sub := strings.ReplaceAll(name, ".", "/")
	if up := len(module) - len(name); up > 0 {
		for range min(up-1, 100) {
			dir = path.Join(dir, "..")
		}
		return path.Join(dir, sub)
	}
	dir = l.abovePackages(dir)
	first, _, _ := strings.Cut(sub, "/")
	for at := dir; ; at = path.Dir(at) {
		if l.pythonPackage(path.Join(at, first)) {
			return path.Join(at, sub)
		}
		if at == "." || at == "/" {
			break
		}
	}
	if l.pythonPackage(path.Join("src", first)) {
		return path.Join("src", sub)
	}
	return l.pythonFromAbove(name)
}

// abovePackages is the nearest folder, from one upwards, that is no package of
// Python's.
func (l *layout) abovePackages(dir string) string {
	for l.known[path.Join(dir, "__init__.py")] && dir != "." {
		dir = path.Dir(dir)
	}
	return dir
}

// pythonFromAbove is where a module lies that is named from above the served
// folder, which is then a package itself; "" for none.
func (l *layout) pythonFromAbove(module string) string {
	if !l.known["__init__.py"] {
		return ""
	}
	parts := strings.Split(module, ".")
	for n := 1; n <= min(len(parts), len(l.above)); n++ {
		if slices.Equal(parts[:n], l.above[len(l.above)-n:]) {
			return path.Join(".", path.Join(parts[n:]...))
		}
	}
	return ""
}

func (l *layout) pythonPackage(at string) bool {
	_, ok := l.pythonFile(at)
	return ok
}

func (l *layout) pythonFile(at string) (string, bool) {
	if at == "" {
		return "", false
	}
	for _, f := range pythonFiles(at) {
		if l.known[f] {
			return f, true
		}
	}
	return "", false
}

// pythonName is how a Python file is imported.
func (l *layout) pythonName(file string) string {
	dir := l.abovePackages(path.Dir(file))
	name := file
	if dir != "." {
		name = strings.TrimPrefix(file, dir+"/")
	} else if l.known["__init__.py"] && len(l.above) > 0 {
		name = l.above[len(l.above)-1] + "/" + file
	}
	name = strings.TrimSuffix(name, path.Ext(name))
	if parent, ok := strings.CutSuffix(name, "/__init__"); ok {
		name = parent
	}
	return strings.ReplaceAll(name, "/", ".")
}

func (l *layout) scriptTargets(file string, im syntax.Import) []target {
	f, ok := l.scriptFile(file, im.Path)
	if !ok {
		return nil
	}
	t := target{path: f, module: im.Alias}
	for _, n := range im.Names {
		if n.Name != "*" || im.Kind == syntax.ReExport {
			t.names = append(t.names, n)
		}
	}
	return []target{t}
}

// scriptFile is the file that a path or the name of a package means.
func (l *layout) scriptFile(file, imported string) (string, bool) {
	if imported == "." || imported == ".." || strings.HasPrefix(imported, "./") || strings.HasPrefix(imported, "../") {
		return l.script(path.Join(path.Dir(file), imported))
	}
	name, sub := splitPackage(imported)
	m, ok := l.packages[name]
	if !ok || m.Name != name {
		return "", false
	}
	if sub == "" && m.Main != "" {
		sub = m.Main
	}
	return l.script(path.Join(m.dir, sub))
}

// splitPackage is a package's name and the path within it.
func splitPackage(imported string) (name, sub string) {
	parts := strings.SplitN(imported, "/", 3)
	n := 1
	if strings.HasPrefix(imported, "@") {
		n = 2
	}
	n = min(n, len(parts))
	return strings.Join(parts[:n], "/"), strings.Join(parts[n:], "/")
}

func (l *layout) script(at string) (string, bool) {
	candidates := scriptCandidates(at)
	i := slices.IndexFunc(candidates, func(c string) bool { return l.known[c] })
	if i < 0 {
		return "", false
	}
	return candidates[i], true
}
