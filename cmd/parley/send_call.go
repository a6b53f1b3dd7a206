package main

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
)

// callFlags say what to ask of a participant, besides the arguments.
type callFlags struct {
	arguments string
	params    string
}

func (f *callFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.arguments, "json-args", "", "the tool's arguments as a JSON `OBJECT`; key=text and key:=json add to them")
	cmd.Flags().StringVar(&f.params, "params", "", "the method's params as a JSON `OBJECT`, of what is no tool call")
}

// call reads TOOL key=value… as tools/call, and METHOD, which has a slash in it
// or comes with --params, as itself.
func (f *callFlags) call(s *sender, name string, args []string) (method string, params jsontext.Value, err error) {
	if f.params == "" && !strings.Contains(name, "/") {
		arguments, err := f.toolArguments(s, args)
		if err != nil {
			return "", nil, err
		}
		return "tools/call", members{{"name", quote(name)}, {"arguments", arguments}}.object(), nil
	}
	switch {
	case f.arguments != "" || len(args) > 0:
		return "", nil, usagef("%s is a method, not a tool, and takes no arguments", name).
			hint("write --params '{…}'; for a tool with a slash in its name: tools/call --params '{\"name\": …, \"arguments\": …}'")
	case f.params == "":
		return name, nil, nil
	}
	params, err = parseObject("--params", f.params)
	return name, params, err
}

func (f *callFlags) toolArguments(s *sender, args []string) (jsontext.Value, error) {
	list, err := s.parseArguments(args)
	if err != nil {
		return nil, err
	}
	if f.arguments == "" {
		return list.object(), nil
	}
	base, err := parseObject("--json-args", f.arguments)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return base, nil
	}
	return membersOf(base).with(list).object(), nil
}

// addressee is whom to ask; "-" is nobody in particular.
func addressee(name string) string {
	if name == "-" {
		return ""
	}
	return name
}
