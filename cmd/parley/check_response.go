package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/config"
	"github.com/parleyhq/parley/internal/response"
)

// responseFlags ask for the configuration of tools' answers instead of a
// gateway's.
type responseFlags struct {
	file   string
	schema bool
}

func (f *responseFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.file, "response", "", "check this `FILE` instead: the "+response.FileName+" that says how much of tools' answers is sent")
	flags.BoolVar(&f.schema, "response-schema", false, "print the JSON Schema of "+response.FileName+", for editors")
}

func (f *responseFlags) asked() bool { return f.file != "" || f.schema }

// check refuses what does not go together.
func (f *responseFlags) check(imports *importFlags, args []string) error {
	switch {
	case !f.asked():
		return nil
	case len(args) > 0 || len(imports.files) > 0:
		return usagef("--response and --response-schema check no other file").hint("check parley.yaml by a call of its own")
	case f.file != "" && f.schema:
		return usagef("--response and --response-schema do not go together").hint("the schema is the same for all files")
	}
	return nil
}

func (f *responseFlags) run(t *terminal) error {
	if f.schema {
		_, err := t.out.Write(response.Schema())
		return err
	}
	return checkResponse(t, f.file)
}

func checkResponse(t *terminal, path string) error {
	data, err := readResponse(path)
	if err != nil {
		return err
	}
	if problems := response.Check(data); len(problems) > 0 {
		e := &config.Error{Name: path}
		for _, p := range problems {
			e.Problems = append(e.Problems, config.Problem{Line: p.Line, Column: p.Column, Message: p.Message, Hint: p.Hint})
		}
		return e
	}
	c, err := response.Parse(path, data)
	if err != nil {
		return err
	}
	return t.printResponse(path, c)
}

// readResponse takes in one byte more than the file may have, to be told of it.
func readResponse(path string) ([]byte, error) {
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, parley.Errorf(parley.NotFound, "there is no %s", path).
			WithHint("write {} into it for what holds without one: tools answer in the profile %s", response.Minimal)
	} else if err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, parley.Errorf(parley.InvalidConfig, "%s is not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, response.MaxFile+1))
}

// responseSummary is what --json shows.
type responseSummary struct {
	OK       bool     `json:"ok"`
	File     string   `json:"file"`
	Profile  string   `json:"profile"`
	Profiles []string `json:"profiles"`
	Tools    []string `json:"tools"`
}

func (t *terminal) printResponse(path string, c *response.Config) error {
	if t.asJSON() {
		return t.writeValue(responseSummary{OK: true, File: path, Profile: c.Profile(), Profiles: c.Profiles(), Tools: append([]string{}, c.Tools()...)})
	}
	fmt.Fprintf(t.out, "%s is good: tools answer in the profile %s\n", path, clean(c.Profile()))
	fmt.Fprintf(t.out, "  profiles: %s\n", clean(strings.Join(c.Profiles(), ", ")))
	if tools := c.Tools(); len(tools) > 0 {
		fmt.Fprintf(t.out, "  overrides: %s\n", clean(strings.Join(tools, ", ")))
	}
	return nil
}
