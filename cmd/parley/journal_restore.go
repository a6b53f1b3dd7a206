package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/journal/sqlite"
)

func newJournalRestore(t *terminal) *cobra.Command {
	var of journalFlags
	var force bool
	var heads []string
	cmd := &cobra.Command{
		Use:   "restore FROM",
		Short: "Put a backup in the place of the journal",
		Long: `Put a copy of a backup in the place of the journal, once every hash chain in it was
walked. No gateway may run. A journal that is there already is not touched; with
--force it is moved away and kept beside the new one.

Each space begins a new epoch, since there may have been more than the backup knows:
who resumes is told of a gap. What was redacted or revoked since the backup was made
is there again, and has to be redacted or revoked again.`,
		Example: `  parley journal restore /backups/parley.db --journal parley.db
  parley journal restore /backups/parley.db --force --head "$(cat heads.txt)"`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			to, err := of.path()
			if err != nil {
				return err
			}
			opts := sqlite.RestoreOptions{Force: force}
			if opts.Kept, err = parseSpaceHeads(heads); err != nil {
				return err
			}
			p := &progress{t: t}
			opts.Progress = p.show
			restored, err := sqlite.Restore(cmd.Context(), args[0], to, opts)
			p.done()
			if err != nil {
				return err
			}
			return t.printRestored(args[0], to, restored)
		},
	}
	of.add(cmd.Flags())
	cmd.Flags().BoolVar(&force, "force", false, "move a journal away that is there already")
	cmd.Flags().StringArrayVar(&heads, "head", nil, "a head that was kept, as `SPACE=HEAD`; may be repeated")
	return cmd
}

// parseSpaceHeads reads heads with the names of their spaces, as parley journal
// backup prints them. Several may stand in one text. Without a name it is the
// head of the only space.
func parseSpaceHeads(texts []string) (map[string][]journal.Head, error) {
	kept := map[string][]journal.Head{}
	for _, text := range texts {
		list := strings.Fields(text)
		if len(list) == 0 { // nothing would be held against it
			return nil, usagef("--head is empty").hint("write SPACE=INDEX:SEQ:HASH, as parley journal backup prints it")
		}
		for _, one := range list {
			space, head, named := strings.Cut(one, "=")
			if !named {
				space, head = "", one
			}
			h, err := journal.ParseHead(head)
			if err != nil {
				return nil, err
			}
			kept[space] = append(kept[space], h)
		}
	}
	return kept, nil
}

func (t *terminal) printRestored(from, to string, restored *sqlite.Restored) error {
	if t.asJSON() {
		return t.writeValue(struct {
			OK      bool        `json:"ok"`
			Backup  string      `json:"backup"`
			Journal string      `json:"journal"`
			Bytes   int64       `json:"bytes"`
			Moved   string      `json:"moved,omitzero"`
			Spaces  []heldSpace `json:"spaces"`
		}{true, from, to, restored.Bytes, restored.Moved, heldSpaces(restored.Spaces)})
	}
	envelopes := 0
	for _, a := range restored.Spaces {
		envelopes += int(a.Envelopes)
	}
	t.say("restored %s to %s: %s, %s, every chain holds; each space begins a new epoch", from, to,
		plural(len(restored.Spaces), "space", "spaces"), plural(envelopes, "envelope", "envelopes"))
	if restored.Moved != "" {
		t.say("the journal that was there is now %s", restored.Moved)
	}
	return nil
}
