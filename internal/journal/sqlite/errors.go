package sqlite

import (
	"errors"
	"io/fs"

	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley"
)

// openError says why a journal cannot be opened, and what to do about it.
func openError(path string, err error) error {
	if _, ok := errors.AsType[*parley.Error](err); ok {
		return err
	}
	switch {
	case errors.Is(err, sqlite3.NOTADB):
		return parley.Errorf(parley.Unavailable, "%s is not a journal of Parley", path).
			WithHint("name another file, or move this one away to start anew")
	case errors.Is(err, sqlite3.CORRUPT):
		return parley.Errorf(parley.Unavailable, "the journal %s is damaged: %v", path, err).
			WithHint("restore a backup; what can still be read, parley log export --journal shows")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, sqlite3.PERM), errors.Is(err, sqlite3.READONLY):
		return parley.Errorf(parley.Unavailable, "no permission to use the journal %s", path).
			WithHint("let the user who runs Parley read and write the file and its folder")
	case errors.Is(err, sqlite3.BUSY), errors.Is(err, sqlite3.LOCKED):
		return parley.Errorf(parley.Unavailable, "the journal %s is locked by another program", path).
			WithHint("close what has it open and try again")
	}
	return parley.Errorf(parley.Unavailable, "the journal %s cannot be opened: %v", path, err)
}

// writeError says why an append failed.
func writeError(err error) error {
	if _, ok := errors.AsType[*parley.Error](err); ok {
		return err
	}
	switch {
	case errors.Is(err, sqlite3.FULL):
		return parley.Errorf(parley.Unavailable, "the journal cannot be written: the disk is full").
			WithHint("make room on the journal's disk; service goes on by itself")
	case errors.Is(err, sqlite3.READONLY), errors.Is(err, sqlite3.PERM):
		return parley.Errorf(parley.Unavailable, "the journal cannot be written: it is read-only").
			WithHint("let the user who runs Parley write the file and its folder")
	}
	return parley.Errorf(parley.Unavailable, "the journal cannot be written: %v", err)
}
