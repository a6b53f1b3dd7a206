package codetools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"github.com/parleyhq/parley/code/internal/source"
	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

var updateSymbol = tool.Tool{
	Name:  "update_symbol",
	Title: "Replace a symbol",
	Description: "Replace one function, class, method or variable of a file by new source. The rest of the file stays byte for byte as it is. " +
		"Nothing is written where the result would not parse, where the symbol would be gone, or where another one would be lost. " +
		"What is replaced is what extract_code shows as code; a comment above it is kept where the new code begins with none. " +
		"The old file is backed up. Answers with a diff; dry_run only answers.",
	Capabilities: languages,
	Annotations:  tool.Annotations{Idempotent: true, ClosedWorld: true},
	Timeout:      patience,
}

// UpdateIn is what update_symbol takes.
type UpdateIn struct {
	Path         string          `json:"path" jsonschema:"the file, relative to the folder"`
	Symbol       string          `json:"symbol" jsonschema:"the name, as analyze_code tells it"`
	Line         int             `json:"line,omitempty" jsonschema:"a line that the symbol is on; needed where several have the name, such as a getter and its setter, and the code does not say which" minimum:"1"`
	Code         string          `json:"code" jsonschema:"the new source of the symbol, all of it; its indentation and line endings become those of the file"`
	NewName      string          `json:"new_name,omitempty" jsonschema:"what the symbol is called in the new code, where that is another name; whoever uses the old one is not changed"`
	ExpectedHash string          `json:"expected_hash,omitempty" jsonschema:"the hash of the file as it was read; a file that has changed since is refused"`
	Language     syntax.Language `json:"language,omitempty" jsonschema:"only where the file's name does not say it" enum:"go,python,javascript,typescript,tsx"`
	DryRun       bool            `json:"dry_run,omitempty" jsonschema:"verify and show the difference, write nothing"`
}

// UpdateOut is what update_symbol answers.
type UpdateOut struct {
	Path         string   `json:"path"`
	Symbol       string   `json:"symbol" jsonschema:"the whole name, the new one if it has one"`
	Kind         string   `json:"kind"`
	Line         int      `json:"line" jsonschema:"the first line of the new code"`
	EndLine      int      `json:"end_line"`
	LinesBefore  int      `json:"lines_before" jsonschema:"how many lines were replaced"`
	LinesAfter   int      `json:"lines_after" jsonschema:"by how many"`
	Written      bool     `json:"written" jsonschema:"false for a dry run, and where nothing differs"`
	Diff         string   `json:"diff" jsonschema:"a unified diff; empty where nothing differs"`
	Truncated    bool     `json:"truncated,omitzero" jsonschema:"the diff goes on"`
	Added        []string `json:"added,omitzero" jsonschema:"symbols that the file did not have before"`
	Removed      []string `json:"removed,omitzero" jsonschema:"symbols that were within the old code and are gone"`
	Dropped      []string `json:"dropped,omitzero" jsonschema:"decorators, export and compiler directives that the symbol had and the new code has not"`
	Twice        []string `json:"declared_twice,omitzero" jsonschema:"names that the file now declares several times, and did not before"`
	PreviousHash string   `json:"previous_hash" jsonschema:"of the file before"`
	Hash         string   `json:"hash" jsonschema:"of the file with the new code"`
	Backup       string   `json:"backup,omitzero" jsonschema:"where the file as it was before lies"`
}

// UpdateSymbol is the tool update_symbol.
func (p *Project) UpdateSymbol(ctx context.Context, _ *tool.Call, in UpdateIn) (UpdateOut, error) {
	if err := checkUpdate(in); err != nil {
		return UpdateOut{}, err
	}
	end, err := take(ctx, p.writing)
	if err != nil {
		return UpdateOut{}, err
	}
	defer end()

	old, err := p.updatable(ctx, in)
	if err != nil {
		return UpdateOut{}, err
	}
	before, err := p.Parse(ctx, old.language, old.file.Path, old.file.Data)
	if err != nil {
		return UpdateOut{}, err
	}
	e, err := p.changed(ctx, before, in)
	if err != nil {
		return UpdateOut{}, err
	}
	out := e.answer(old.hash)
	if in.DryRun || e.unchanged() {
		return out, nil
	}
	out.Backup, err = p.backUp(ctx, old.file)
	if err != nil {
		return UpdateOut{}, err
	}
	if err := p.replaceFile(ctx, old, e.after.Source); err != nil {
		return UpdateOut{}, err
	}
	out.Written = true
	return out, nil
}

func checkUpdate(in UpdateIn) error {
	switch {
	case strings.TrimSpace(in.Code) == "":
		return tool.Errorf(tool.InvalidArgument, "code is empty: a symbol is replaced, not removed")
	case len(in.Code) > syntax.MaxBytes:
		return tool.Errorf(tool.TooLarge, "%d bytes of code are more than the %d that are written", len(in.Code), syntax.MaxBytes)
	case in.Line < 0:
		return tool.Errorf(tool.InvalidArgument, "line is %d: lines are counted from 1", in.Line)
	case len(in.NewName) > maxName:
		return tool.Errorf(tool.InvalidArgument, "the new name has %d bytes, more than %d", len(in.NewName), maxName)
	case in.NewName != "" && !isName(in.NewName):
		return tool.Errorf(tool.InvalidArgument, "new_name %q is not a name: give letters, digits and underscores, such as parse or Class.parse", in.NewName)
	case in.ExpectedHash != "" && !isHash(in.ExpectedHash):
		return tool.Errorf(tool.InvalidArgument, "expected_hash is not a hash, which is 64 digits from 0 to f: take it from an answer")
	}
	return nil
}

// isName says whether a text may be a name, perhaps after those of what is around
// it, in any of the languages; keys of JavaScript may have hyphens.
func isName(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		part = strings.TrimPrefix(part, "#")
		if part == "" || part[0] >= '0' && part[0] <= '9' || strings.ContainsFunc(part, func(r rune) bool {
			return r != '_' && r != '$' && r != '-' && !unicode.In(r, unicode.L, unicode.M, unicode.N)
		}) {
			return false
		}
	}
	return true
}

func isHash(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size
}

// hashOf names a state of a file.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// A current file is one that may be changed, as it is now.
type current struct {
	file     *source.File
	language syntax.Language
	hash     string
}

// updatable reads the file anew: what the cache has is as old as the clock of
// the disk is coarse.
func (p *Project) updatable(ctx context.Context, in UpdateIn) (*current, error) {
	clean, err := p.root.Clean(in.Path)
	if err != nil {
		return nil, err
	}
	if err := p.writable(clean); err != nil {
		return nil, err
	}
	l, err := languageOf(clean, in.Language)
	if err != nil {
		return nil, err
	}
	file, err := p.root.Read(ctx, clean, syntax.MaxBytes)
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(file.Data, '\r') >= 0 && bytes.IndexByte(file.Data, '\n') < 0 {
		return nil, tool.Errorf(tool.InvalidArgument, "the file's lines end in carriage returns alone, which no symbol is replaced between: convert it")
	}
	c := &current{file: file, language: l, hash: hashOf(file.Data)}
	if in.ExpectedHash != "" && !strings.EqualFold(in.ExpectedHash, c.hash) {
		return nil, errChanged(c.hash)
	}
	return c, nil
}

// errChangedMeanwhile says that somebody else has written the file during the
// call.
func errChangedMeanwhile(hash string) error {
	return tool.Errorf(tool.InvalidArgument, "somebody else has changed the file meanwhile, and nothing was written: try again").
		WithDetails(map[string]any{"conflict": true, "hash": hash})
}

// errChanged says that a file is not what the caller saw.
func errChanged(hash string) error {
	return tool.Errorf(tool.InvalidArgument, "the file is not the one that expected_hash names: it has changed since, so read it again").
		WithDetails(map[string]any{"conflict": true, "hash": hash})
}
