package codetools

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/parleyhq/parley/code/internal/source"
	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

// backups is where files lie as they were before. It is hidden, so that neither
// our tools nor those of the languages take it for a part of the project.
const backups = ".parley/backup"

// keptBackups is how many states of one file are kept.
const keptBackups = 10

// writable refuses what must not be replaced: links, which could mean a file
// elsewhere, and what somebody has made read-only.
func (p *Project) writable(clean string) error {
	info, err := p.root.Dir().Lstat(clean)
	switch {
	case err != nil:
		return p.root.Explain(clean, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return tool.Errorf(tool.Forbidden, "the path is a symbolic link, and links are not written through: name the file that it leads to")
	case info.Mode().IsRegular() && info.Mode().Perm()&0o222 == 0:
		return tool.Errorf(tool.Forbidden, "the file is read-only")
	}
	return nil
}

// replaceFile puts new content in the file's place in one step: whoever reads
// the file sees the old or the new one, never a part. What is not finished lies
// among the backups, so that a process that is killed leaves nothing beside the
// source; only where they are on another disk it has to be there.
func (p *Project) replaceFile(ctx context.Context, old *current, data []byte) error {
	err := p.root.Dir().MkdirAll(backups, 0o755)
	if err == nil {
		err = p.replaceFrom(ctx, backups, old, data)
	}
	if errors.Is(err, syscall.EXDEV) {
		err = p.replaceFrom(ctx, path.Dir(old.file.Path), old, data)
	}
	if err != nil {
		return p.root.Explain(old.file.Path, err)
	}
	p.syncFolder(path.Dir(old.file.Path))
	return nil
}

func (p *Project) replaceFrom(ctx context.Context, dir string, old *current, data []byte) error {
	temp, err := p.tempFile(ctx, dir, data, old.file.Info)
	if err != nil {
		return err
	}
	err = p.stillSame(ctx, old)
	if err == nil {
		err = p.root.Dir().Rename(temp, old.file.Path)
	}
	if err != nil {
		p.root.Dir().Remove(temp)
	}
	return err
}

// stillSame looks once more whether somebody else has changed the file.
func (p *Project) stillSame(ctx context.Context, old *current) error {
	if err := p.writable(old.file.Path); err != nil {
		return err
	}
	now, err := p.root.Read(ctx, old.file.Path, syntax.MaxBytes)
	if err != nil {
		return err
	}
	if !bytes.Equal(now.Data, old.file.Data) {
		return errChangedMeanwhile(hashOf(now.Data))
	}
	return ctx.Err()
}

// A file that is not finished has a name that begins and ends like this.
const tempPrefix, tempSuffix = ".parley-", ".tmp"

// tempFile writes a file that nobody else knows of, with the permissions and,
// where it may be given away, the owner of another one, and brings it to disk.
// Rights of its owner that a program would run with are not handed on to code
// that its owner has not seen.
func (p *Project) tempFile(ctx context.Context, dir string, data []byte, like fs.FileInfo) (name string, err error) {
	if err := p.sweep(ctx, dir); err != nil {
		return "", err
	}
	name = path.Join(dir, tempPrefix+rand.Text()+tempSuffix)
	file, err := p.root.Dir().OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = file.Write(data)
	if err == nil {
		giveTo(file, like)
		err = file.Chmod(like.Mode().Perm())
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		p.root.Dir().Remove(name)
		return "", err
	}
	return name, nil
}

// sweep removes what processes that were killed left in a folder. What is
// younger than a minute may belong to one that runs.
func (p *Project) sweep(ctx context.Context, dir string) error {
	entries, err := p.root.List(ctx, dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), tempPrefix) || !strings.HasSuffix(e.Name(), tempSuffix) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > time.Minute {
			p.root.Dir().Remove(path.Join(dir, e.Name()))
		}
	}
	return nil
}

// syncFolder brings a rename to disk. Where folders cannot be synced, the
// content is safe all the same, and only the name may be the old one after a
// power cut.
func (p *Project) syncFolder(dir string) {
	if d, err := p.root.Dir().Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
}

// backUp keeps a file as it is now, and forgets the oldest of its earlier
// states.
func (p *Project) backUp(ctx context.Context, f *source.File) (string, error) {
	name, err := p.keep(ctx, f)
	if err == nil {
		return name, nil
	}
	err = p.root.Explain(backups, err)
	if e, ok := errors.AsType[*tool.Error](err); ok { // the path that it is about is not the caller's
		code := e.Code
		if code == tool.InvalidPath || code == tool.NotFound {
			code = tool.Forbidden
		}
		return "", tool.Errorf(code, "the file cannot be backed up, so it was not changed: %s", e.Message)
	}
	return "", err
}

func (p *Project) keep(ctx context.Context, f *source.File) (string, error) {
	dir := path.Join(backups, f.Path)
	if err := p.root.Dir().MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := p.ignoreBackups(); err != nil {
		return "", err
	}
	temp, err := p.tempFile(ctx, backups, f.Data, f.Info)
	if err != nil {
		return "", err
	}
	name := path.Join(dir, time.Now().UTC().Format("20060102T150405.000000000Z")+".bak")
	if err := p.root.Dir().Rename(temp, name); err != nil {
		p.root.Dir().Remove(temp)
		return "", err
	}
	return name, p.forgetOld(ctx, dir)
}

// ignoreBackups keeps version control from taking them for new files.
func (p *Project) ignoreBackups() error {
	file, err := p.root.Dir().OpenFile(path.Join(backups, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString("*\n")
	return errors.Join(err, file.Close())
}

// forgetOld removes the oldest backups of one file, which sort first.
func (p *Project) forgetOld(ctx context.Context, dir string) error {
	entries, err := p.root.List(ctx, dir)
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool {
		return !e.Type().IsRegular() || !strings.HasSuffix(e.Name(), ".bak")
	})
	for _, e := range entries[:max(0, len(entries)-keptBackups)] {
		if err := p.root.Dir().Remove(path.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
