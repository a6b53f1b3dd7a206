package codetools

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/parleyhq/parley/tool"
)

// maxFailed is how many of them an answer names.
const maxFailed = 20

// GivenUpOut are the files that a search gave up. What they hold is not in the
// answer.
type GivenUpOut struct {
	Failed      []FailedOut `json:"failed,omitzero" jsonschema:"files that could not be read or parsed, some of them; what they hold is not in the answer"`
	FailedFiles int         `json:"files_failed,omitzero" jsonschema:"how many there are"`
}

// FailedOut is a file that could not be looked at.
type FailedOut struct {
	Path string    `json:"path"`
	Code tool.Code `json:"error_code"`
}

// A givenUp collects files that were given up. Its methods may be called at the
// same time.
type givenUp struct {
	mu    sync.Mutex
	files map[string]tool.Code
}

// add takes down a file, once. One that is no longer there holds nothing.
func (g *givenUp) add(name string, err error) {
	code := codeOf(err)
	if code == tool.NotFound {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.files == nil {
		g.files = map[string]tool.Code{}
	}
	g.files[name] = code
}

func (g *givenUp) out() GivenUpOut {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := GivenUpOut{FailedFiles: len(g.files)}
	for name, code := range g.files {
		out.Failed = append(out.Failed, FailedOut{name, code})
	}
	slices.SortFunc(out.Failed, func(a, b FailedOut) int { return strings.Compare(a.Path, b.Path) })
	out.Failed = out.Failed[:min(len(out.Failed), maxFailed)]
	return out
}

func codeOf(err error) tool.Code {
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return e.Code
	}
	return tool.InternalError
}
