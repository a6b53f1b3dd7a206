package codetools

import (
	"cmp"
	"context"
	"io/fs"
	"runtime"

	"github.com/parleyhq/parley/code/internal/source"
	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

// Options say how much a Project may take. The zero value is good.
type Options struct {
	// CacheBytes is how much memory parsed files may take; 0 means 256 MiB, and
	// less that none is kept.
	CacheBytes int64
}

// Project is a folder with code, as all tools see it. It is made by [Open].
type Project struct {
	root  *source.Root
	cache *syntax.Cache
	turns chan struct{} // one for each file that may be parsed at once
	large chan struct{} // one fewer: files that may take long never take all turns

	writing chan struct{} // one: files are changed one after the other
}

// Open opens the project in a folder. The error is a *[tool.Error], with
// invalid_path where there is no such folder.
func Open(dir string, o Options) (*Project, error) {
	root, err := source.Open(dir)
	if err != nil {
		return nil, err
	}
	turns := max(runtime.GOMAXPROCS(0), 2)
	return &Project{
		root:  root,
		cache: syntax.NewCache(cmp.Or(o.CacheBytes, 256<<20)),
		turns: make(chan struct{}, turns),
		large: make(chan struct{}, turns-1),

		writing: make(chan struct{}, 1),
	}, nil
}

// Close gives the folder back. No call may be under way.
func (p *Project) Close() error { return p.root.Close() }

// File is a file of the project, parsed: the one that was parsed before where
// the disk says that it is unchanged. An empty language means that the name
// says it.
func (p *Project) File(ctx context.Context, name string, l syntax.Language) (*syntax.File, error) {
	clean, info, err := p.root.Stat(name)
	if err != nil {
		return nil, err
	}
	if l, err = languageOf(clean, l); err != nil {
		return nil, err
	}
	if f := p.cache.Get(identity(clean, l, info)); f != nil {
		return f, nil
	}
	return p.read(ctx, clean, l)
}

// read reads and parses a file, and remembers it as the state that was read.
func (p *Project) read(ctx context.Context, clean string, l syntax.Language) (*syntax.File, error) {
	file, err := p.root.Read(ctx, clean, syntax.MaxBytes)
	if err != nil {
		return nil, err
	}
	f, err := p.Parse(ctx, l, clean, file.Data)
	if err != nil {
		return nil, err
	}
	p.cache.Put(identity(clean, l, file.Info), f)
	return f, nil
}

func identity(clean string, l syntax.Language, info fs.FileInfo) syntax.Identity {
	return syntax.Identity{
		Path: clean, Language: l,
		Size: info.Size(), ModTime: info.ModTime().UnixNano(),
		Inode: source.Inode(info), Changed: source.Changed(info),
	}
}

// Parse parses a text that need not be in a file, when its turn has come.
func (p *Project) Parse(ctx context.Context, l syntax.Language, name string, src []byte) (*syntax.File, error) {
	end, err := p.turn(ctx, len(src))
	if err != nil {
		return nil, err
	}
	defer end()
	return syntax.Parse(ctx, l, name, src)
}

// smallFile is, in bytes, what most files are below. However many large ones are
// asked for at once, one turn is left for those.
const smallFile = 128 << 10

// turn waits for a turn to work on a text of so many bytes.
func (p *Project) turn(ctx context.Context, size int) (end func(), err error) {
	if size <= smallFile {
		return take(ctx, p.turns)
	}
	endLarge, err := take(ctx, p.large)
	if err != nil {
		return nil, err
	}
	endTurn, err := take(ctx, p.turns)
	if err != nil {
		endLarge()
		return nil, err
	}
	return func() { endTurn(); endLarge() }, nil
}

func take(ctx context.Context, turns chan struct{}) (end func(), err error) {
	select {
	case turns <- struct{}{}:
		return func() { <-turns }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// languageOf is the language that a caller gave or, where that is none, the one
// that the file's name says.
func languageOf(name string, given syntax.Language) (syntax.Language, error) {
	if l := cmp.Or(given, syntax.LanguageOf(name)); l != "" {
		return l, nil
	}
	return "", tool.Errorf(tool.InvalidArgument,
		"the name of the file does not say which language it is in: give language, one of %v", syntax.Languages())
}
