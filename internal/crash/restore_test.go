package crash

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/journal/sqlite"
)

// A backup that is made under load is put in place of the journal of a killed
// gateway: everybody is told of a gap, once, nobody of what came after the
// backup, and what is promised from then on is on record.
func TestRestore(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Second, errors.New("the test takes too long"))
	defer cancel()
	gateway, dir := program(t), t.TempDir()
	tr, err := newTrial(Options{Program: gateway, Dir: dir, Seed: 1, Out: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	step := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	step(tr.open(ctx))
	defer tr.close()
	more := func(typ Type, n int) {
		t.Helper()
		step(tr.ledger.reach(ctx, typ, tr.ledger.Total(typ)+n))
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	parley := func(args ...string) (said struct {
		Spaces []struct {
			Space string `json:"space"`
			Head  string `json:"head"`
		} `json:"spaces"`
	}) {
		t.Helper()
		out, err := exec.CommandContext(ctx, gateway, append(args, "--json", "--journal", tr.journal)...).Output()
		if err == nil {
			err = json.Unmarshal(out, &said)
		}
		if err != nil {
			t.Fatalf("parley %q: %v: %s", args, err, out)
		}
		return said
	}

	more(Acknowledged, 300)
	made := parley("journal", "backup", backup)
	if len(made.Spaces) != 1 || made.Spaces[0].Space != spaceName {
		t.Fatalf("the backup holds %+v", made.Spaces)
	}
	more(Acknowledged, 300)
	step(tr.check(ctx))
	step(faultless(tr))
	tr.process.kill()
	tr.ledger.Take()
	torn := tr.ledger.Total(Torn)
	parley("journal", "restore", backup, "--force", "--head", spaceName+"="+made.Spaces[0].Head)
	tr.process, err = tr.house.start()
	step(err)
	more(Torn, len(players))
	more(Acknowledged, 300)
	promises := tr.ledger.Take()
	if got := tr.ledger.Total(Torn) - torn; got != len(players) {
		t.Errorf("%d times somebody was told of a gap, with %d participants", got, len(players))
	}
	kept, err := journal.ParseHead(made.Spaces[0].Head)
	step(err)
	held(ctx, t, tr.journal, kept, promises)
}

func faultless(tr *trial) error {
	if faults := tr.checker.Faults(); len(faults) > 0 {
		return errors.New(faults[0])
	}
	return nil
}

// held checks what was promised after the gap that each participant was told of.
func held(ctx context.Context, t *testing.T, path string, kept journal.Head, promises []Promise) {
	t.Helper()
	j, err := sqlite.Open(ctx, sqlite.Options{Path: path, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	log, err := j.Reader(ctx, spaceName)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Verify(ctx, spaceName, log, kept); err != nil {
		t.Error(err)
	}
	ids, epochs := map[uint64]string{}, map[string]bool{}
	for r, err := range log.Read(ctx, journal.Query{After: kept.Seq}) {
		if err != nil {
			t.Fatal(err)
		}
		ids[r.Seq] = r.ID
		epochs[r.Epoch] = true
	}
	if len(epochs) != 1 {
		t.Errorf("after the backup there are %d epochs", len(epochs))
	}
	told, checked := map[string]bool{}, 0
	for _, p := range promises {
		switch {
		case p.Type == Torn:
			told[p.Who] = true
		case p.Type == Acknowledged && epochs[p.Epoch], p.Type == Delivered && told[p.Who] && p.Seq > kept.Seq:
			checked++
			if ids[p.Seq] != p.ID {
				t.Errorf("%s: was told of %s at %d; on record there is %q", p.Who, p.ID, p.Seq, ids[p.Seq])
			}
		}
	}
	if checked < 300 {
		t.Errorf("only %d promises were made in the new epoch", checked)
	}
}
