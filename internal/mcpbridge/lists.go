package mcpbridge

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/jsonrpc"
)

// Bounds of what a server's lists may hold.
const (
	maxEntries   = 10_000   // of all lists together
	maxListBytes = 16 << 20 // of all lists together
	maxEntry     = 1 << 20  // one entry; a longer one is left out
	maxPages     = 1_000    // of one list
	maxCursor    = 8 << 10  // bytes of one
	maxWarnings  = 20       // of all lists together
)

// lister reads the lists of one server completely, and no more of them than it
// should: whatever is wrong with them is told to warn, and the rest counts.
type lister struct {
	ask  func(ctx context.Context, method string, params jsontext.Value) (jsontext.Value, error)
	warn func(what string, args ...any)

	entries, bytes int // what is read so far
	warned         int
}

// list is one of the lists that a server may have.
type list struct {
	capability string // that announces it
	method     string
	member     string // of the result
	key        string // by which an entry is known
}

var (
	toolList     = list{"tools", "tools/list", "tools", "name"}
	resourceList = list{"resources", "resources/list", "resources", "uri"}
	templateList = list{"resources", "resources/templates/list", "resourceTemplates", "uriTemplate"}
	promptList   = list{"prompts", "prompts/list", "prompts", "name"}
)

var (
	errTooMuch   = fmt.Errorf("a server's lists hold %d entries and %d bytes at most", maxEntries, maxListBytes)
	errEndless   = errors.New("its cursors lead nowhere: one came twice, or there are too many pages")
	errOddCursor = errors.New("nextCursor is not a string, or too long a one")
)

// read follows a list's cursors to the end. An error says why what comes with
// it is not all.
func (l *lister) read(ctx context.Context, of list) ([]jsontext.Value, error) {
	var all []jsontext.Value
	known := map[string]bool{}
	cursors := map[string]bool{}
	params := jsontext.Value(nil)
	for {
		page, err := l.ask(ctx, of.method, params)
		if err != nil {
			return all, err
		}
		if all, err = l.take(of, page, all, known); err != nil {
			return all, err
		}
		next := parley.Member(page, "nextCursor")
		switch {
		case next == nil, next.Kind() == 'n':
			return all, nil
		case next.Kind() != '"', len(next) > maxCursor:
			return all, errOddCursor
		case cursors[string(next)], len(cursors) == maxPages:
			return all, errEndless
		}
		cursors[string(next)] = true
		params = append(append(jsontext.Value(`{"cursor":`), next...), '}')
	}
}

// leftOut warns of an entry, unless there were many.
func (l *lister) leftOut(why string, args ...any) {
	switch l.warned++; {
	case l.warned < maxWarnings:
		l.warn(why, args...)
	case l.warned == maxWarnings:
		l.warn("there is more amiss with a server's lists", args...)
	}
}

// take appends the entries of one page that can be used.
func (l *lister) take(of list, page jsontext.Value, all []jsontext.Value, known map[string]bool) ([]jsontext.Value, error) {
	for entry, err := range jsonrpc.Values(parley.Member(page, of.member)) {
		if err != nil {
			return all, fmt.Errorf("%s is not a list", of.member)
		}
		name, ok := parley.MemberString(entry, of.key)
		switch {
		case entry.Kind() != '{' || !ok:
			l.leftOut("an entry of a server's list has no "+of.key+" and is left out", "list", of.method)
			continue
		case len(entry) > maxEntry:
			l.leftOut("an entry of a server's list is too long and is left out", "list", of.method, of.key, clip([]byte(name)), "bytes", len(entry))
			continue
		case known[name]:
			l.leftOut("a server lists one "+of.key+" twice; the first counts", "list", of.method, of.key, clip([]byte(name)))
			continue
		case l.entries == maxEntries || l.bytes+len(entry) > maxListBytes:
			return all, errTooMuch
		}
		known[name] = true
		l.entries++
		l.bytes += len(entry)
		all = append(all, entry)
	}
	return all, nil
}
