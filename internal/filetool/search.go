package filetool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley"
)

const (
	defaultResults = 100
	maxResults     = 1000
	maxVisited     = 200_000  // names looked at by one search
	maxSearched    = 16 << 20 // bytes of a file whose content is searched
	excerptBytes   = 200      // shown of a line that matches
)

var searchTool = &mcp.Tool{
	Name: "search_files",
	Description: "Find files and folders by name, or files by the text in them, or both. " +
		`pattern is a glob: "*.md" fits names in any folder, "docs/**/*.md" fits paths below the searched folder, "{a,b}" is either. ` +
		"text is looked for line by line, as it is written. Binary files and symbolic links are not searched. " +
		"The answer says with truncated when there is more.",
	Annotations: reads("Search files"),
}

type searchInput struct {
	Path            string   `json:"path,omitempty" jsonschema:"the folder to search, relative to the served folder, which is the default"`
	Pattern         string   `json:"pattern,omitempty" jsonschema:"glob for names; needed unless text is given"`
	Text            string   `json:"text,omitempty" jsonschema:"find lines that contain this"`
	IgnoreCase      bool     `json:"ignoreCase,omitempty" jsonschema:"whether upper and lower case are the same in text"`
	ExcludePatterns []string `json:"excludePatterns,omitempty" jsonschema:"globs for what to leave out, folders with everything in them"`
	MaxResults      int      `json:"maxResults,omitempty" jsonschema:"most matches to return, 100 by default, at most 1000"`
}

type searchOutput struct {
	Matches   []found `json:"matches"`
	Truncated bool    `json:"truncated,omitempty" jsonschema:"there may be more matches than these"`
	Skipped   int     `json:"skipped,omitempty" jsonschema:"files and folders that could not be searched: binary, too large or unreadable"`
}

type found struct {
	Path string `json:"path" jsonschema:"relative to the served folder"`
	Type string `json:"type" jsonschema:"file, directory, symlink, pipe, socket or device"`
	Line int    `json:"line,omitempty" jsonschema:"where the text is, counted from 1"`
	Text string `json:"text,omitempty" jsonschema:"that line, shortened if long"`
}

func (o *searchOutput) render() []mcp.Content {
	var b strings.Builder
	for _, m := range o.Matches {
		b.WriteString(m.Path)
		if m.Type == "directory" {
			b.WriteByte('/')
		}
		if m.Line > 0 {
			fmt.Fprintf(&b, ":%d: %s", m.Line, m.Text)
		}
		b.WriteByte('\n')
	}
	if len(o.Matches) == 0 {
		b.WriteString("(nothing found)\n")
	}
	if o.Truncated {
		b.WriteString("(cut here: search a smaller folder or be more specific)\n")
	}
	if o.Skipped > 0 {
		fmt.Fprintf(&b, "(%d not searched: binary, too large or unreadable)\n", o.Skipped)
	}
	return say("%s", strings.TrimSuffix(b.String(), "\n"))
}

// A search is one call under way.
type search struct {
	f       *folder
	base    string
	pattern glob // no ways: every name
	exclude []glob
	text    []byte // folded if fold
	fold    bool
	most    int
	visited int
	out     searchOutput
}

// errCut ends a walk that found enough.
var errCut = errors.New("search was cut")

func (f *folder) search(ctx context.Context, in searchInput) (*searchOutput, error) {
	s, err := f.newSearch(in)
	if err != nil {
		return nil, err
	}
	err = s.walk(ctx, s.base)
	if err != nil && !errors.Is(err, errCut) {
		return nil, f.explain(s.base, err)
	}
	return &s.out, nil
}

func (f *folder) newSearch(in searchInput) (*search, error) {
	base, err := f.clean(in.Path)
	if err != nil {
		return nil, err
	}
	s := &search{f: f, base: base, fold: in.IgnoreCase, most: in.MaxResults, out: searchOutput{Matches: []found{}}}
	switch {
	case in.Pattern == "" && in.Text == "":
		return nil, parley.Errorf(parley.InvalidArgument, "there is nothing to search for").
			WithHint("give pattern, text or both")
	case strings.ContainsAny(in.Text, "\r\n"):
		return nil, parley.Errorf(parley.InvalidArgument, "text spans several lines").
			WithHint("search for a part of one line")
	case in.MaxResults < 0 || in.MaxResults > maxResults:
		return nil, parley.Errorf(parley.InvalidArgument, "maxResults is %d", in.MaxResults).
			WithHint("1 to %d, or leave it out for %d", maxResults, defaultResults)
	case in.MaxResults == 0:
		s.most = defaultResults
	}
	if s.text = []byte(in.Text); s.fold {
		s.text = bytes.ToLower(s.text)
	}
	if in.Pattern != "" {
		if s.pattern, err = parseGlob(in.Pattern); err != nil {
			return nil, err
		}
	}
	for _, p := range in.ExcludePatterns {
		g, err := parseGlob(p)
		if err != nil {
			return nil, err
		}
		s.exclude = append(s.exclude, g)
	}
	return s, nil
}

// walk searches below dir, in order of names. Symbolic links are not followed,
// so it ends.
func (s *search) walk(ctx context.Context, dir string) error {
	names, err := s.names(ctx, dir)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && dir == s.base:
		return err
	case err != nil:
		s.out.Skipped++
		return nil
	}
	for _, d := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := path.Join(dir, d.Name())
		if s.excluded(p) {
			continue
		}
		if err := s.visit(p, d.Type()); err != nil {
			return err
		}
		if d.IsDir() {
			if err := s.walk(ctx, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// names reads a folder and closes it, so that a deep tree needs one open file.
func (s *search) names(ctx context.Context, dir string) ([]fs.DirEntry, error) {
	d, err := s.f.openDir(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var all []fs.DirEntry
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		batch, err := d.ReadDir(1024)
		all = append(all, batch...)
		if errors.Is(err, io.EOF) || len(all) > maxVisited {
			slices.SortFunc(all, byName)
			return all, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// visit looks at one name.
func (s *search) visit(p string, mode fs.FileMode) error {
	if s.visited++; s.visited > maxVisited {
		s.out.Truncated = true
		return errCut
	}
	if len(s.pattern.ways) > 0 && !s.pattern.match(s.relative(p)) {
		return nil
	}
	if len(s.text) == 0 {
		return s.add(found{Path: p, Type: kindOf(mode)})
	}
	if !mode.IsRegular() {
		return nil
	}
	return s.searchText(p)
}

func (s *search) relative(p string) string {
	if s.base == "." {
		return p
	}
	return strings.TrimPrefix(p, s.base+"/")
}

func (s *search) excluded(p string) bool {
	rel := s.relative(p)
	return slices.ContainsFunc(s.exclude, func(g glob) bool { return g.match(rel) })
}

func (s *search) add(m found) error {
	if len(s.out.Matches) == s.most {
		s.out.Truncated = true
		return errCut
	}
	m.Path = strings.ToValidUTF8(m.Path, "\uFFFD")
	s.out.Matches = append(s.out.Matches, m)
	return nil
}

// searchText adds the lines of a file that hold the text.
func (s *search) searchText(p string) error {
	data, ok := s.content(p)
	if !ok {
		s.out.Skipped++
		return nil
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if at := s.index(line); at >= 0 {
			if err := s.add(found{Path: p, Type: "file", Line: n, Text: excerpt(line, at)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// content returns a whole file that can be searched.
func (s *search) content(p string) ([]byte, bool) {
	file, info, err := s.f.openFile(p)
	if err != nil {
		return nil, false
	}
	defer file.Close()
	if info.Size() > maxSearched {
		return nil, false
	}
	data, err := io.ReadAll(io.LimitReader(file, maxSearched+1))
	if err != nil || len(data) > maxSearched || bytes.IndexByte(data[:min(len(data), 8<<10)], 0) >= 0 {
		return nil, false
	}
	return data, true
}

func (s *search) index(line []byte) int {
	if s.fold {
		line = bytes.ToLower(line)
	}
	return bytes.Index(line, s.text)
}

// excerpt is the part of a line around at, in whole characters.
func excerpt(line []byte, at int) string {
	line = bytes.TrimRight(line, "\r\n")
	from := 0
	if len(line) > excerptBytes {
		from = max(0, min(at-excerptBytes/4, len(line)-excerptBytes))
	}
	for from < len(line) && from > 0 && !utf8.RuneStart(line[from]) {
		from++
	}
	text := wholeRunes(line[from:min(len(line), from+excerptBytes)])
	shown := strings.ToValidUTF8(string(text), "\uFFFD")
	if from > 0 {
		shown = "…" + shown
	}
	if from+len(text) < len(line) {
		shown += "…"
	}
	return shown
}
