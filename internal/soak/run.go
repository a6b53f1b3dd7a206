package soak

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// Options say what to run, and for how long.
type Options struct {
	Program  string // the built parley; with the race detector, preferably
	Dir      string // an empty folder for its journal
	Duration time.Duration
	Seed     uint64    // decides who does what when; 0 is a random one
	Out      io.Writer // of the report; nil is nowhere
}

// Run soaks a gateway, and prints and returns what it took. What was not as it
// has to be is in the report's Faults; an error says that it could not be found
// out.
func Run(ctx context.Context, opts Options) (*Report, error) {
	if opts.Seed == 0 {
		opts.Seed = rand.Uint64()
	}
	if opts.Out == nil {
		opts.Out = io.Discard
	}
	s := &soak{
		opts: opts, config: filepath.Join(opts.Dir, "parley.yaml"), journal: filepath.Join(opts.Dir, "parley.db"),
		report: &Report{Seed: opts.Seed, Duration: opts.Duration, Race: hasRace(opts.Program)},
	}
	fmt.Fprintf(opts.Out, "seed %d, %v, race detector: %v\n", opts.Seed, opts.Duration, s.report.Race)
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	s.report.finish(&s.tally)
	s.report.Print(opts.Out)
	return s.report, nil
}

// hasRace reports whether a program was built with the race detector.
func hasRace(program string) bool {
	info, err := buildinfo.ReadFile(program)
	return err == nil && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-race" && s.Value == "true" })
}

// soak is one run.
type soak struct {
	opts            Options
	config, journal string
	gateway         *process
	began           time.Time
	tally           tally
	report          *Report
}

func (s *soak) run(ctx context.Context) error {
	if err := s.prepare(); err != nil {
		return err
	}
	var err error
	if s.gateway, err = startGateway(ctx, s.opts.Program, s.config); err != nil {
		return err
	}
	defer func() { s.gateway.kill() }()
	s.began = time.Now()
	if err := s.work(ctx); err != nil {
		return err
	}
	heads, err := s.heads(ctx)
	if err != nil {
		return err
	}
	s.end()
	if err := s.examine(ctx, heads); err != nil {
		return err
	}
	if err := s.again(ctx); err != nil {
		return err
	}
	return s.listen()
}

func (s *soak) prepare() error {
	if err := os.Mkdir(filesDir(s.opts.Dir), 0o700); err != nil {
		return err
	}
	return os.WriteFile(s.config, []byte(configuration(s.opts.Program, s.opts.Dir)), 0o600)
}

// work lets the crews work for a tenth of the time, takes the measure, and lets
// them work for the rest, or until everything was seen that has to be.
func (s *soak) work(ctx context.Context) error {
	warm := s.opts.Duration / 10
	_, err := s.crews(ctx, warm, func(figures) bool { return true })
	if err != nil {
		return err
	}
	if s.report.Measure, err = s.quiet(ctx, settled); err != nil {
		return err
	}
	s.report.Samples, err = s.crews(ctx, s.opts.Duration-warm, func(f figures) bool { return len(missing(s.tally.counts(), f)) == 0 })
	if err != nil {
		return err
	}
	s.report.End, err = s.quiet(ctx, func(q Quiet) bool {
		return settled(q) && len(s.report.returned(q)) == 0
	})
	return err
}

// crews lets everybody work for a while, and takes samples of what the gateway
// takes.
func (s *soak) crews(ctx context.Context, d time.Duration, enough func(figures) bool) ([]sample, error) {
	working, over := context.WithCancel(ctx)
	defer over()
	var beside sync.WaitGroup
	defer beside.Wait()
	for i, f := range []func(context.Context, *rand.Rand){s.auditor, s.killer} {
		rnd := rand.New(rand.NewPCG(s.opts.Seed, uint64(i)))
		beside.Go(func() { f(working, rnd) })
	}
	for i, space := range []string{keeps, drops} {
		c := join(working, s.gateway.url, space, paces[i], s.opts.Seed+uint64(i), &s.tally)
		defer c.close()
	}
	defer over()
	return s.sample(ctx, d, enough)
}

// paces are the longest pauses of who talks in each space. The one that keeps
// everything has less to keep, so that to read all of it stays possible.
var paces = [...]time.Duration{60 * time.Millisecond, 20 * time.Millisecond}

// moreTime is how much longer than asked for the crews may work until
// everything was seen, on a machine that is busy with other things.
const moreTime = 30 * time.Second

// sample asks for figures for a while, and until it is enough.
func (s *soak) sample(ctx context.Context, d time.Duration, enough func(figures) bool) (samples []sample, err error) {
	began := time.Now()
	every := time.NewTicker(min(5*time.Second, s.opts.Duration/50))
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-s.gateway.ended:
			return nil, fmt.Errorf("soak: the gateway ended by itself: %v, see %s", s.gateway.exit, s.gateway.said)
		case <-every.C:
		}
		f, err := s.figures(ctx)
		if err != nil {
			s.tally.fault("a scrape failed: %v", err)
			continue
		}
		s.tally.did("scraped")
		samples = append(samples, newSample(time.Since(s.began), f))
		if past := time.Since(began); past >= d && enough(f) || past >= d+moreTime {
			return samples, nil
		}
	}
}

// figures scrapes over a connection of its own, so that it leaves nothing
// behind.
func (s *soak) figures(ctx context.Context) (figures, error) {
	c := httpClient(false)
	defer c.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, scrapeTime)
	defer cancel()
	return scrape(ctx, c, s.gateway.url)
}

const scrapeTime = 20 * time.Second
