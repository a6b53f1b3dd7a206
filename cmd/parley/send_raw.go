package main

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
)

func newSendRaw(s *sender) *cobra.Command {
	return &cobra.Command{
		Use:   "raw FILE",
		Short: "Send envelopes as they stand in a file",
		Long: `Send one envelope, or JSON Lines of them, byte for byte as they stand in FILE ("-" is
standard input). The first that is refused ends it.`,
		Example: `  echo '{"kind":"chat","payload":{"text":"hello"}}' | parley send raw -
  parley send raw envelopes.jsonl`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			input, err := s.readFile(args[0])
			if err != nil {
				return err
			}
			envelopes := splitEnvelopes(input)
			if len(envelopes) == 0 {
				return parley.Errorf(parley.InvalidArgument, "%s is empty", inputName(args[0]))
			}
			a, err := s.api(cmd.Context())
			if err != nil {
				return err
			}
			for _, e := range envelopes {
				receipt, err := a.post(cmd.Context(), "/envelopes", e)
				if err != nil {
					return err
				}
				if err := s.printReceipt(receipt); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// splitEnvelopes takes JSON Lines apart. What is none is one envelope, whatever
// it holds: judging it is the gateway's.
func splitEnvelopes(input []byte) [][]byte {
	var list [][]byte
	for line := range bytes.Lines(input) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			list = append(list, line)
		}
	}
	if len(list) > 0 && !balanced(list[0]) {
		return [][]byte{bytes.TrimSpace(input)}
	}
	return list
}

// balanced reports whether a line is a JSON value by itself, perhaps a wrong one.
func balanced(line []byte) bool {
	dec := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, err := dec.ReadValue()
	return err == nil
}
