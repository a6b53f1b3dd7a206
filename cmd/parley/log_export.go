package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

func newLogExport(t *terminal, from *recordFlags) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the whole record as JSON Lines that can be verified anywhere",
		Long: `Write every record of a space, refusals and hashes included, and at the end the
head of the chain. "parley log verify FILE" checks such a file without a gateway.`,
		Example: `  parley log export --out demo.jsonl
  parley log export --journal .parley/parley.db | gzip > demo.jsonl.gz`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			rec, err := from.open(cmd.Context(), t)
			if err != nil {
				return err
			}
			defer rec.close()
			return writeOut(t, out, func(w io.Writer) error {
				audit, err := rec.export(cmd.Context(), w)
				if err == nil {
					t.say("exported %s and %s of %s, head %s",
						plural(int(audit.Envelopes), "envelope", "envelopes"), plural(int(audit.Refusals), "refusal", "refusals"),
						clean(audit.Space), audit.Head)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write to this `FILE`, which appears when it is whole")
	return cmd
}

// writeOut writes to a file, which is whole or not there, or to standard output
// where no file is named.
func writeOut(t *terminal, path string, write func(io.Writer) error) error {
	if path == "" {
		w := bufio.NewWriter(t.out)
		if t.outTTY {
			lines := &lineEscaper{w: w}
			return errors.Join(notWhole(write(lines)), lines.end())
		}
		return errors.Join(notWhole(write(w)), w.Flush())
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeInto(path, write) // a pipe or a device, not to be replaced by a file
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".parley-*")
	if err != nil {
		return cannotWrite(path, err)
	}
	defer os.Remove(f.Name()) // no longer there after the renaming
	if err := unlessOvertaken(func() error { return writeAnew(f, write) }); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return cannotWrite(path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return cannotWrite(path, err)
	}
	return nil
}

// writeAnew writes in place of whatever an attempt before has written.
func writeAnew(f *os.File, write func(io.Writer) error) error {
	_, err := f.Seek(0, io.SeekStart)
	if err = errors.Join(err, f.Truncate(0)); err != nil {
		return cannotWrite(f.Name(), err)
	}
	w := bufio.NewWriter(f)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return cannotWrite(f.Name(), err)
	}
	return nil
}

// notWhole says what to do about an export that cannot begin anew, since part of
// it has left already.
func notWhole(err error) error {
	if !journal.IsOvertaken(err) {
		return err
	}
	return parley.Errorf(parley.Unavailable, "retention overtook the export, which is not whole: what was to come next had been dropped").
		WithHint("export again; with --out FILE that happens by itself")
}

// writeInto writes to what is there already.
func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return cannotWrite(path, err)
	}
	w := bufio.NewWriter(f)
	err = notWhole(write(w))
	if closeErr := errors.Join(w.Flush(), f.Close()); closeErr != nil {
		return errors.Join(err, cannotWrite(path, closeErr))
	}
	return err
}

func cannotWrite(path string, err error) error {
	return parley.Errorf(parley.Unavailable, "%s cannot be written: %v", path, err)
}

func newLogHead(t *terminal, from *recordFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "head",
		Short: "Print the end of the chain, to be kept elsewhere",
		Long: `Print the head of the chain as INDEX:SEQ:HASH. Kept where nobody who can write the
journal gets at it, it proves later that nothing up to here was changed or cut off:
parley log verify --head HEAD.`,
		Example: `  parley log head --json=false > head.txt
  parley log verify --head "$(cat head.txt)"`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			rec, err := from.open(cmd.Context(), t)
			if err != nil {
				return err
			}
			defer rec.close()
			head, err := rec.head(cmd.Context())
			if err != nil {
				return err
			}
			if t.asJSON() {
				return t.writeValue(struct {
					Head string `json:"head"`
				}{head.String()})
			}
			_, err = fmt.Fprintln(t.out, head)
			return err
		},
	}
}
