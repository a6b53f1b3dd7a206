package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parleyhq/parley/internal/config"
	"github.com/parleyhq/parley/internal/journal"
)

func newJournal(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "journal VERB",
		Short: "Look after the journal file: backup, restore",
		Example: `  parley journal backup /backups/parley.db
  parley journal restore /backups/parley.db`,
		Args: group(),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newJournalBackup(t), newJournalRestore(t))
	return cmd
}

// journalFlags say which journal is meant.
type journalFlags struct{ journal, config string }

func (f *journalFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.journal, "journal", "", "the journal `FILE`")
	flags.StringVarP(&f.config, "config", "c", "", "the configuration `FILE` that names the journal (else "+configName+", else the demo's)")
}

// path is the journal that a gateway would have that is started here. The rest of
// its configuration is not looked at: the secrets there are the gateway's.
func (f *journalFlags) path() (string, error) {
	if f.journal != "" && f.config != "" {
		return "", usagef("--journal and --config are two ways to name a journal").hint("write one of them")
	}
	if f.journal != "" {
		return f.journal, nil
	}
	path := f.config
	if path == "" {
		if _, err := os.Stat(configName); errors.Is(err, fs.ErrNotExist) {
			return filepath.Join(demoDir, config.DefaultJournalPath), nil
		}
		path = configName
	}
	j, err := config.LoadJournal(path)
	return j.Path, orNoConfig(path, err)
}

// progress says how far a copy is, to whoever looks.
type progress struct {
	t     *terminal
	shown bool
}

func (p *progress) show(done, total int64) {
	switch {
	case !p.t.errTTY || total == 0:
	case done < total:
		p.write(fmt.Sprintf("copying: %d%% of %s", done*100/total, mebibytes(total)))
	default:
		p.write("copied; checking …")
	}
}

// done leaves nothing of it on the line.
func (p *progress) done() {
	if p.shown {
		p.write("")
		fmt.Fprint(p.t.err, "\r")
	}
}

func (p *progress) write(text string) {
	fmt.Fprintf(p.t.err, "\r%-32s", text)
	p.shown = true
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// heldSpace is one space of a copy, as JSON.
type heldSpace struct {
	Space     string `json:"space"`
	Records   uint64 `json:"records,omitzero"`
	Envelopes uint64 `json:"envelopes,omitzero"`
	Head      string `json:"head"`
}

func heldSpaces(audits []journal.Audit) []heldSpace {
	list := []heldSpace{}
	for _, a := range audits {
		list = append(list, heldSpace{a.Space, a.Records, a.Envelopes, a.Head.String()})
	}
	return list
}
