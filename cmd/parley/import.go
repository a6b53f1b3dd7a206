package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/config"
)

// importFlags name configurations of MCP clients, whose servers join a space.
type importFlags struct {
	files []string
	space string
}

func (f *importFlags) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.files, "import", nil,
		"add the MCP servers of this client's configuration `FILE`: Claude's, Cursor's or VS Code's; may be repeated")
	flags.StringVar(&f.space, "import-space", "", "the `SPACE` to add them to, where there are several")
}

// check refuses flags that do not go together.
func (f *importFlags) check() error {
	if f.space != "" && len(f.files) == 0 {
		return usagef("--import-space has no effect without --import").hint("name a file: --import .mcp.json")
	}
	return nil
}

// target is the space that the servers are for.
func (f *importFlags) target(c *config.Config) (string, *config.Space, error) {
	names := slices.Sorted(maps.Keys(c.Spaces))
	switch {
	case f.space != "" && c.Spaces[f.space] == nil:
		return "", nil, parley.Errorf(parley.NotFound, "there is no space %.64q", f.space).WithHint("there is %s", strings.Join(names, ", "))
	case f.space != "":
		return f.space, c.Spaces[f.space], nil
	case len(names) == 1:
		return names[0], c.Spaces[names[0]], nil
	case len(names) == 0:
		return "", nil, parley.Errorf(parley.InvalidConfig, "there is no space to import into").
			WithHint("write spaces: {NAME: {participants: …}}")
	}
	return "", nil, usagef("into which space?").hint("--import-space NAME, one of %s", strings.Join(names, ", "))
}

// into adds the servers to a configuration.
func (f *importFlags) into(t *terminal, c *config.Config) error {
	if len(f.files) == 0 {
		return nil
	}
	_, space, err := f.target(c)
	if err != nil {
		return err
	}
	imports, err := config.ImportAll(f.files, config.ImportOptions{Taken: space.IDs(), Listen: c.Listen})
	if err != nil {
		return t.allProblems(err)
	}
	t.tellImports(imports)
	for _, im := range imports {
		im.AddTo(space)
	}
	return nil
}

// tellImports says what was decided on the way, and what is left out.
func (t *terminal) tellImports(imports []*config.Imported) {
	for _, im := range imports {
		for _, w := range im.Warnings {
			writeProblem(t.err, w, im.Name+": warning")
		}
		for _, n := range im.Notes {
			writeProblem(t.err, n, im.Name+": note")
		}
	}
}

// allProblems prints all of several errors but the last, and returns that.
func (t *terminal) allProblems(err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	var last error
	for _, e := range joined.Unwrap() {
		if last != nil {
			t.fail(last)
		}
		last = t.allProblems(e)
	}
	return last
}
