package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley/internal/journal/sqlite"
)

func newJournalBackup(t *terminal) *cobra.Command {
	var of journalFlags
	var verify bool
	cmd := &cobra.Command{
		Use:   "backup TO",
		Short: "Copy the journal to a new file, while a gateway runs",
		Long: `Copy the journal to a new file that only its owner reads. A gateway that writes it
goes on meanwhile. The copy is of one moment, and appears when it is whole, on the disk
and checked; --verify=false leaves out to walk the hash chains in it.

What is printed are the heads of its spaces, as SPACE=HEAD. Kept elsewhere, they prove
what the copy has to hold: parley journal restore --head SPACE=HEAD.`,
		Example: `  parley journal backup /backups/parley.db
  parley journal backup "parley-$(date +%F).db" --config parley.yaml --json=false > heads.txt`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := of.path()
			if err != nil {
				return err
			}
			p := &progress{t: t}
			copied, err := sqlite.Backup(cmd.Context(), from, args[0], verify, sqlite.CopyOptions{Progress: p.show})
			p.done()
			if err != nil {
				return err
			}
			return t.printBackup(from, args[0], verify, copied)
		},
	}
	of.add(cmd.Flags())
	cmd.Flags().BoolVar(&verify, "verify", true, "walk the hash chains of the copy")
	return cmd
}

func (t *terminal) printBackup(from, to string, verified bool, copied *sqlite.Copied) error {
	if t.asJSON() {
		return t.writeValue(struct {
			OK       bool        `json:"ok"`
			Journal  string      `json:"journal"`
			Backup   string      `json:"backup"`
			Bytes    int64       `json:"bytes"`
			Verified bool        `json:"verified"`
			Spaces   []heldSpace `json:"spaces"`
		}{true, from, to, copied.Bytes, verified, heldSpaces(copied.Spaces)})
	}
	for _, a := range copied.Spaces {
		if _, err := fmt.Fprintf(t.out, "%s=%s\n", clean(a.Space), a.Head); err != nil {
			return err
		}
	}
	t.say("backed up %s to %s: %s, %s; keep the heads elsewhere", from, to,
		plural(len(copied.Spaces), "space", "spaces"), mebibytes(copied.Bytes))
	for _, a := range copied.Spaces {
		t.say("later: parley log verify --journal %s --space %s --head %s", shellWord(clean(to)), shellWord(clean(a.Space)), a.Head)
	}
	return nil
}
