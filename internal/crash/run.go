package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/journal/sqlite"
)

// Options say what is done to the gateway.
type Options struct {
	Program string // the built parley
	Dir     string // an empty folder for its journal
	Rounds  int    // how often it is killed
	Seed    uint64 // decides when; 0 is a random one
	Out     io.Writer
}

// settleTime is how long the end may take: the last answers, and everybody
// catching up.
const settleTime = 60 * time.Second

// Run kills the gateway Rounds times, and reports what it saw. The error is
// what kept it from going on; promises that were broken are in the report.
func Run(ctx context.Context, opts Options) (*Report, error) {
	if opts.Seed == 0 {
		opts.Seed = rand.Uint64()
	}
	t, err := newTrial(opts)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(t.out, "seed %d, %d rounds\n", opts.Seed, opts.Rounds)
	t.report.header(t.out)
	return t.report, t.run(ctx)
}

// trial is one run.
type trial struct {
	opts    Options
	out     io.Writer
	journal string
	house   *house
	ledger  *Ledger
	checker *Checker
	report  *Report
	rnd     *rand.Rand
	load    *load
	process *process
	known   time.Duration // the longest recovery
}

func newTrial(opts Options) (*trial, error) {
	t := &trial{opts: opts, out: opts.Out, ledger: new(Ledger), journal: filepath.Join(opts.Dir, "parley.db")}
	if t.out == nil {
		t.out = io.Discard
	}
	config := filepath.Join(opts.Dir, "parley.yaml")
	if err := os.WriteFile(config, []byte(configuration(t.journal)), 0o600); err != nil {
		return nil, err
	}
	var views []View
	for _, p := range players {
		views = append(views, p.View)
	}
	t.checker = NewChecker(views...)
	t.house = newHouse(opts.Program, config)
	t.report = &Report{Seed: opts.Seed}
	t.rnd = rand.New(rand.NewPCG(opts.Seed, 0))
	return t, nil
}

func (t *trial) run(ctx context.Context) error {
	if err := t.open(ctx); err != nil {
		return err
	}
	defer t.close()
	for n := range t.opts.Rounds {
		if err := t.round(ctx, n+1); err != nil {
			return fmt.Errorf("round %d: %w", n+1, err)
		}
		if len(t.checker.Faults()) > 0 {
			break
		}
	}
	return t.settle(ctx)
}

// open starts the gateway for the first time, with everybody in the room.
func (t *trial) open(ctx context.Context) error {
	var err error
	if t.process, err = t.house.start(); err != nil {
		return err
	}
	joining, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if t.load, err = join(joining, t.house, t.ledger, t.opts.Seed); err != nil {
		t.process.kill()
		return fmt.Errorf("%w; the gateway said: %s", err, t.process.said.String())
	}
	return nil
}

func (t *trial) close() {
	t.load.close()
	t.process.kill()
}

// round lets the gateway run, kills it, and starts the next one. Half of the
// time the record is checked in between, as the dead process left it; else the
// next process has it first.
func (t *trial) round(ctx context.Context, n int) error {
	if err := t.live(ctx); err != nil {
		return err
	}
	t.process.kill()
	r := Round{Number: n, Lived: t.house.age(), Recovery: t.house.recovery()}
	t.known = max(t.known, r.Recovery)
	between := t.rnd.IntN(2) == 0
	if between {
		if err := t.check(ctx); err != nil {
			return err
		}
	}
	var err error
	if t.process, err = t.house.start(); err != nil {
		return err
	}
	if !between {
		if err := t.check(ctx); err != nil {
			return err
		}
	}
	t.report.add(r, t)
	t.report.Rounds[len(t.report.Rounds)-1].print(t.out)
	if n%verifyEvery == 0 {
		return t.verify(ctx)
	}
	return nil
}

// live lets the process live for a while: mostly until somebody has been let in
// and some time more, in every fifth round not even so long.
func (t *trial) live(ctx context.Context) error {
	if t.rnd.IntN(5) == 0 {
		return t.process.survive(ctx, t.upTo(t.known+t.known/2), nil)
	}
	d := t.upTo(time.Second)
	if err := t.process.survive(ctx, startTime, t.house.reached()); err != nil {
		return err
	}
	if t.house.recovery() == 0 {
		return fmt.Errorf("nobody was welcomed for %v; the gateway said: %s", startTime, t.process.said.String())
	}
	return t.process.survive(ctx, d, nil)
}

// startTime is how long a start may take.
const startTime = 30 * time.Second

// upTo is a random time.
func (t *trial) upTo(most time.Duration) time.Duration {
	return time.Duration(t.rnd.Int64N(int64(max(most, 10*time.Millisecond))))
}

// check holds what was promised until now against the record.
func (t *trial) check(ctx context.Context) error {
	promises := t.ledger.Take()
	j, err := sqlite.Open(ctx, sqlite.Options{Path: t.journal, ReadOnly: true})
	if err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	defer j.Close()
	log, err := j.Reader(ctx, spaceName)
	if err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	for r, err := range log.Read(ctx, journal.Query{Chain: true, After: t.checker.Head().Index}) {
		if err != nil {
			return fmt.Errorf("reading the journal: %w", err)
		}
		t.checker.Record(r)
	}
	t.checker.Check(promises)
	return nil
}

// erased waits until everything is redacted that was ordered to be, however often
// the gateway was killed while it was about to. What was dropped is not there.
func (t *trial) erased(ctx context.Context) error {
	for left := t.checker.ordered; len(left) > 0; {
		j, err := sqlite.Open(ctx, sqlite.Options{Path: t.journal, ReadOnly: true})
		if err != nil {
			return fmt.Errorf("reading the journal: %w", err)
		}
		left, err = unerased(ctx, j, left)
		if err = errors.Join(err, j.Close()); err != nil {
			return fmt.Errorf("reading the journal: %w", err)
		}
		if len(left) > 0 && !sleep(ctx, 20*time.Millisecond, nil) {
			t.checker.fault("%d of %d redactions are not carried out", len(left), len(t.checker.ordered))
			return nil
		}
	}
	return nil
}

// unerased are those of the ids that can still be read.
func unerased(ctx context.Context, j *sqlite.Journal, ids map[string]bool) (map[string]bool, error) {
	log, err := j.Reader(ctx, spaceName)
	if err != nil {
		return nil, err
	}
	left := map[string]bool{}
	for id := range ids {
		for r, err := range log.Read(ctx, journal.Query{ID: id}) {
			if err != nil {
				return nil, err
			}
			if !r.Redacted {
				left[id] = true
			}
		}
	}
	return left, nil
}

// verifyEvery is after how many rounds the whole chain is walked once more, by
// the program itself.
const verifyEvery = 10

// verify has the program walk the chain, which may go on growing, and hold it
// against the head that we have read.
func (t *trial) verify(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, t.opts.Program, "log", "verify", "--json", "--journal", t.journal, "--space", spaceName,
		"--head", t.checker.Head().String()).CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"ok":true`) {
		t.checker.fault("parley log verify: %v: %s", err, out)
	}
	return nil
}

// settle waits until everything that was begun has ended, and checks that
// nobody misses anything.
func (t *trial) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settleTime, errors.New("it does not come to rest"))
	defer cancel()
	last, waited := t.load.finish(ctx)
	if err := errors.Join(t.check(ctx), t.erased(ctx), t.verify(ctx)); err != nil {
		return err
	}
	t.checker.Close(last)
	t.report.finish(t)
	t.report.Print(t.out)
	if waited != nil {
		return fmt.Errorf("%w; the gateway said: %s", waited, t.process.said.String())
	}
	return nil
}
