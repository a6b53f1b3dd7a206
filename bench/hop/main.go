package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "hop:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "echo" {
		return echoCommand(ctx, args[1:])
	}
	flags := flag.NewFlagSet("bench/compare hop", flag.ContinueOnError)
	var b bench
	flags.IntVar(&b.rounds, "rounds", 5, "how many `rounds`")
	flags.DurationVar(&b.length, "length", 1500*time.Millisecond, "how `long` each measurement takes")
	flags.StringVar(&b.only, "only", "", "measure only `ways` that have this in their name, beside the direct one")
	flags.IntVar(&b.idle, "idle", 100, "how many idle `sessions` the memory is measured with")
	flags.StringVar(&b.cache, "cache", ".cache/compare", "the `folder` with what bench/fetch fetched")
	flags.StringVar(&b.parley, "parley", ".cache/compare/parley", "the `program` to measure")
	flags.StringVar(&b.loopback, "loopback", "bench/loopback.cjs", "the `file` that keeps a server on loopback")
	flags.StringVar(&b.results, "results", "bench/results", "the `folder` to write to")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if err := b.prepare(); err != nil {
		return err
	}
	defer os.RemoveAll(b.scratch)
	return b.measure(ctx)
}

// bench is one run.
type bench struct {
	rounds, idle                     int
	length                           time.Duration
	only                             string
	cache, parley, loopback, results string

	self, modules, scratch string
	direct                 string // where the server itself is reached
}

func (b *bench) prepare() (err error) {
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	for _, path := range []*string{&b.cache, &b.parley, &b.loopback, &b.results} {
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	if err = os.MkdirAll(b.results, 0o755); err != nil {
		return err
	}
	b.modules = filepath.Join(b.cache, "npm/node_modules")
	// Beside the results, since a system's temporary folder may be no disk.
	b.scratch, err = os.MkdirTemp(b.results, "scratch-")
	return err
}
