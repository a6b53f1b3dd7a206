package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

func newLogVerify(t *terminal, from *recordFlags) *cobra.Command {
	var head string
	cmd := &cobra.Command{
		Use:   "verify [EXPORT]",
		Short: "Check that nothing on record was changed, cut out or cut off",
		Long: `Walk the hash chain of a space: over HTTP, out of a journal file with --journal, or of
an export ("-" is standard input). The first place that does not hold is named
by its seq, and the exit code is 1.

That the end was not cut off or written anew shows only against a head that
was kept elsewhere: see parley log head.`,
		Example: `  parley log verify --journal .parley/parley.db
  parley log verify export.jsonl --head "$(cat head.txt)"`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("head") && strings.TrimSpace(head) == "" { // nothing would be held against it
				return usagef("--head is empty").hint("write INDEX:SEQ:HASH, as parley log head prints it")
			}
			kept, err := parseHeads(head)
			if err != nil {
				return err
			}
			audit, err := verify(cmd, t, from, args, kept)
			if err != nil {
				return err
			}
			return t.printAudit(audit)
		},
	}
	cmd.Flags().StringVar(&head, "head", "", "the `HEAD` that was kept, as parley log head prints it")
	return cmd
}

func verify(cmd *cobra.Command, t *terminal, from *recordFlags, args []string, kept []journal.Head) (journal.Audit, error) {
	if len(args) == 0 {
		rec, err := from.open(cmd.Context(), t)
		if err != nil {
			return journal.Audit{}, err
		}
		defer rec.close()
		return rec.verify(cmd.Context(), kept...)
	}
	if from.journal != "" {
		return journal.Audit{}, usagef("an export and --journal are two records").hint("name one of them")
	}
	if args[0] == "-" {
		return journal.VerifyExport(t.in, kept...)
	}
	f, err := os.Open(args[0])
	if errors.Is(err, fs.ErrNotExist) {
		return journal.Audit{}, parley.Errorf(parley.NotFound, "there is no export %s", args[0]).
			WithHint("parley log export --out %s writes one", args[0])
	}
	if err != nil {
		return journal.Audit{}, parley.Errorf(parley.Unavailable, "the export cannot be read: %v", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return journal.Audit{}, parley.Errorf(parley.InvalidArgument, "%s is a folder, not an export", args[0]).
			WithHint("name a file that parley log export wrote")
	}
	r := bufio.NewReader(f)
	if magic, _ := r.Peek(15); string(magic) == "SQLite format 3" {
		return journal.Audit{}, usagef("%s is a journal, not an export", args[0]).hint("parley log verify --journal %s", args[0])
	}
	return journal.VerifyExport(r, kept...)
}

// parseHeads reads --head, which may also be the JSON that parley log head
// writes into a pipe.
func parseHeads(text string) ([]journal.Head, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, nil
	}
	if v := jsontext.Value(text); v.IsValid() && v.Kind() == '{' {
		text, _ = parley.MemberString(v, "head")
	}
	h, err := journal.ParseHead(text)
	if err != nil {
		return nil, err
	}
	return []journal.Head{h}, nil
}

func (t *terminal) printAudit(a journal.Audit) error {
	if t.asJSON() {
		return t.writeValue(struct {
			OK        bool   `json:"ok"`
			Space     string `json:"space"`
			Records   uint64 `json:"records"`
			Envelopes uint64 `json:"envelopes"`
			Refusals  uint64 `json:"refusals"`
			Redacted  uint64 `json:"redacted,omitzero"`

			Checkpoints uint64 `json:"checkpoints,omitzero"`
			Markers     uint64 `json:"markers,omitzero"`
			Dropped     uint64 `json:"dropped,omitzero"`

			Head string `json:"head"`
		}{true, a.Space, a.Records, a.Envelopes, a.Refusals, a.Redacted, a.Checkpoints, a.Markers, a.Dropped, a.Head.String()})
	}
	_, err := fmt.Fprintln(t.out, chainHolds(a))
	return err
}

func chainHolds(a journal.Audit) string {
	return fmt.Sprintf("the chain of %s holds: %s, head %s", clean(a.Space), counted(a), a.Head)
}

// counted is what a chain holds, and what it holds no more.
func counted(a journal.Audit) string {
	parts := []string{plural(int(a.Envelopes), "envelope", "envelopes"), plural(int(a.Refusals), "refusal", "refusals")}
	for _, c := range []struct {
		n         uint64
		one, many string
	}{
		{a.Checkpoints, "checkpoint", "checkpoints"},
		{a.Markers, "marker of retention", "markers of retention"},
		{a.Dropped, "record dropped before them", "records dropped before them"},
	} {
		if c.n > 0 {
			parts = append(parts, plural(int(c.n), c.one, c.many))
		}
	}
	return strings.Join(parts, ", ")
}
