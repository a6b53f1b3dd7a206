package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/parleyhq/parley/internal/load"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 {
		switch args[0] {
		case "worker": // one process of the load
			return load.Work(ctx, os.Stdin, os.Stdout)
		case "floor":
			return floorCommand(ctx, args[1:])
		case "draw":
			return draw(args[1:])
		}
	}
	return measure(ctx, args)
}

// measure is what bench/compare runs.
func measure(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench/compare", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: bench/compare [scale] [flags]")
		flags.PrintDefaults()
	}
	scale := len(args) > 0 && args[0] == "scale"
	if scale {
		args = args[1:]
	}
	var b bench
	quick := flags.Bool("quick", false, "two short rounds, for a first impression")
	rounds := flags.Int("rounds", 0, "how many `rounds`; 4, or 2 with -quick")
	flags.StringVar(&b.only, "only", "", "measure only `work` that has this in its name")
	flags.StringVar(&b.bin, "bin", ".cache/compare/bin", "the `folder` with the servers")
	flags.StringVar(&b.parley, "parley", ".cache/compare/parley", "the `program` to measure")
	flags.StringVar(&b.results, "results", "bench/results", "the `folder` to write to")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	b.pace = full
	if *quick {
		b.pace = short
	}
	if *rounds > 0 {
		b.pace.rounds, b.pace.budget = *rounds, math.MaxInt64
	}
	b.full = os.Getenv("COMPARE_FULL") == "1"
	if err := b.prepare(); err != nil {
		return err
	}
	defer os.RemoveAll(b.scratch)
	if scale {
		return b.scale(ctx)
	}
	return b.compare(ctx)
}

// pace is how long everything takes.
type pace struct {
	rounds         int
	warmup, length time.Duration
	budget         time.Duration // no round is begun that would take longer than what is left
	few            bool          // only the servers that aims are about
}

var (
	full  = pace{rounds: 4, warmup: 700 * time.Millisecond, length: 2 * time.Second, budget: 20 * time.Minute}
	short = pace{rounds: 2, warmup: 300 * time.Millisecond, length: time.Second, budget: 3 * time.Minute, few: true}
)

// bench is one run.
type bench struct {
	bin, parley, results, only string
	pace                       pace
	full                       bool

	self    string // this program
	scratch string // a folder for journals and configurations
	cores   cores
}

func (b *bench) prepare() (err error) {
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	for _, path := range []*string{&b.bin, &b.parley, &b.results} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if err = os.MkdirAll(b.results, 0o755); err != nil {
		return err
	}
	b.cores = findCores()
	// Beside the results, since a system's temporary folder may be no disk.
	b.scratch, err = os.MkdirTemp(b.results, "scratch-")
	return err
}
