package response

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// The variables of the environment that a Source knows.
const (
	// FileVariable names the file that comes first in the search.
	FileVariable = "PARLEY_RESPONSE_CONFIG"
	// ProfileVariable forces the debug profile where it says debug.
	ProfileVariable = "PARLEY_RESPONSE"
	// InfoVariable does the same where it says DEBUG.
	InfoVariable = "SCALPEL_MCP_INFO"
)

// forced says whether the environment forces the debug profile.
func forced(getenv func(string) string) bool {
	return strings.EqualFold(getenv(ProfileVariable), Debug) || strings.EqualFold(getenv(InfoVariable), Debug)
}

// search is where the file may be.
type search struct {
	files []string // the first that is there counts
	named string   // one of files that somebody named; empty for none
}

func newSearch(o SourceOptions) search {
	below := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(o.Dir, path)
	}
	if o.File != "" {
		return search{files: []string{below(o.File)}, named: below(o.File)}
	}
	var s search
	if named := o.Getenv(FileVariable); named != "" {
		s.named = below(named)
		s.files = append(s.files, s.named)
	}
	s.files = append(s.files, below(filepath.Join(".parley", FileName)), below(filepath.Join(".code-scalpel", FileName)))
	home := o.Home
	if home == "" {
		home, _ = os.UserConfigDir() // who has none has no file there
	}
	if home != "" {
		s.files = append(s.files, filepath.Join(home, "parley", FileName))
	}
	return s
}

// find looks for the file without reading it. One that is there but cannot be
// used hides those behind it: its owner wants to know.
func (s *search) find() sighting {
	for _, path := range s.files {
		info, err := os.Stat(path)
		switch {
		case err == nil && !info.Mode().IsRegular():
			return sighting{path: path, fault: notRegular}
		case err == nil:
			return sighting{path: path, info: info}
		case !isAbsent(err):
			return faulty(path, err)
		}
	}
	return sighting{}
}

// absent says whether the file that somebody named is not there.
func (s *search) absent() bool {
	if s.named == "" {
		return false
	}
	_, err := os.Stat(s.named)
	return err != nil && isAbsent(err)
}

const notRegular = "not a regular file"

// isAbsent also holds where a file stands in place of a folder on the way.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func faulty(path string, err error) sighting {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err // the path is told anyway
	}
	return sighting{path: path, fault: err.Error()}
}
