package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/parleyhq/parley/internal/load"
)

// growth is something that may grow while an envelope's way stays as it is.
type growth struct {
	name string
	unit int // what 1× is
	// setting says how there come to be n of it.
	setting func(n int) setting
}

type setting struct {
	records    int // on record before
	spaces     int // besides
	bystanders int // who are connected, and receive nothing of what is sent
}

var growths = []growth{
	{"envelopes on record", 50_000, func(n int) setting { return setting{records: n} }},
	{"other spaces", 20, func(n int) setting { return setting{spaces: n} }},
	{"connections that do not receive it", 100, func(n int) setting { return setting{bystanders: n} }},
}

var multiples = []int{1, 4, 16}

// The load of which an envelope's cost is taken.
var scaleWork = work{name: "scale", receivers: 2, senders: 1, rate: 2_000}

// scaled is what a measurement came to.
type scaled struct {
	Growth   string  `json:"growth"`
	Multiple int     `json:"multiple"`
	Count    int     `json:"count"`
	Round    int     `json:"round"`
	CPU      float64 `json:"gateway_cpu_us_per_envelope"`
	P50      float64 `json:"p50_us"`
	P99      float64 `json:"p99_us"`
}

// scale shows what an envelope costs where there is more of what it has nothing
// to do with.
func (b *bench) scale(ctx context.Context) error {
	var all []scaled
	for round := range b.pace.rounds {
		for _, g := range growths {
			for _, m := range multiples {
				if !b.wanted(g.name) {
					continue
				}
				s := scaled{Growth: g.name, Multiple: m, Count: m * g.unit, Round: round + 1}
				if err := b.scaled(ctx, g.setting(s.Count), &s); err != nil {
					return fmt.Errorf("%d %s: %w", s.Count, g.name, err)
				}
				fmt.Fprintf(os.Stderr, "round %d  %9s %-35s %6.1f µs of CPU per envelope, p50 %s\n",
					s.Round, thousands(float64(s.Count)), s.Growth, s.CPU, micros(s.P50))
				all = append(all, s)
			}
		}
	}
	printScale(os.Stdout, all)
	raw, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(b.results, "scale.json"), raw, 0o644)
}

func (b *bench) scaled(ctx context.Context, s setting, out *scaled) error {
	r, err := b.start(ctx, server{name: "parley", protocol: "parley", command: func(b *bench, folder string, port int) ([]string, error) {
		if s.records > 0 {
			path := filepath.Join(folder, journalName)
			if err := load.MakeJournal(ctx, path, spaceName, []string{"p0", "p1"}, s.records, size, nil); err != nil {
				return nil, err
			}
		}
		return parleyCommand(b, folder, port, gateway{sync: "normal", spaces: s.spaces})
	}})
	if err != nil {
		return err
	}
	defer r.stop()
	crowd, err := b.gather(ctx, r, s.bystanders)
	if err != nil {
		return err
	}
	defer crowd()
	if err := b.settle(ctx, r); err != nil {
		return err
	}
	res, err := b.fanout(ctx, r, scaleWork, scaleWork.rate)
	if err != nil {
		return err
	}
	out.P50, out.P99 = res.Latency.P50, res.Latency.P99
	if res.Server.CPUSeconds != nil {
		out.CPU = *res.Server.CPUSeconds / float64(res.Messages) * 1e6
	}
	return nil
}

// gather connects bystanders, whose filter keeps everything away. They stay
// until the function is called that it returns.
func (b *bench) gather(ctx context.Context, r *running, n int) (dismiss func(), err error) {
	if n == 0 {
		return func() {}, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	there, ended := make(chan struct{}, 1), make(chan error, 1)
	target := r.target
	target.Query = "kinds=bench/none"
	go func() {
		_, err := load.Idle{Connections: n, Setting: load.Setting{
			Target: target, PID: r.pid, Command: b.cores.worker(b.self, "worker"), Duration: time.Hour,
			Progress: func(time.Duration, uint64) {
				select {
				case there <- struct{}{}:
				default:
				}
			},
		}}.Run(ctx)
		ended <- err
	}()
	select {
	case <-there:
		return func() { cancel(); <-ended }, nil
	case err := <-ended:
		cancel()
		return nil, err
	}
}

// settle waits until the gateway has nothing to do any more: a journal that is
// new to it is indexed in the background.
func (b *bench) settle(ctx context.Context, r *running) error {
	const calm = 0.05 // of a core
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		res, err := load.Idle{Connections: 1, Setting: load.Setting{
			Target: r.target, PID: r.pid, Command: b.cores.worker(b.self, "worker"), Duration: 400 * time.Millisecond,
		}}.Run(ctx)
		if err != nil || res.IdleCPUSeconds < calm {
			return err
		}
	}
	return fmt.Errorf("the gateway does not come to rest")
}

// printScale prints medians, and how many times that of 1× the others are.
func printScale(w io.Writer, all []scaled) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nwhat grows\tcount\tCPU per envelope\tof 1×\tp50\tof 1×\tp99")
	for _, g := range growths {
		pick := func(m int, f func(scaled) float64) samples {
			var list samples
			for _, s := range all {
				if s.Growth == g.name && s.Multiple == m {
					list = append(list, sample{s.Round, f(s)})
				}
			}
			return list
		}
		cpu := func(s scaled) float64 { return s.CPU }
		half := func(s scaled) float64 { return s.P50 }
		late := func(s scaled) float64 { return s.P99 }
		for _, m := range multiples {
			if len(pick(m, cpu)) == 0 {
				continue
			}
			fmt.Fprintf(t, "%s\t%s\t%.1f µs\t%.2f×\t%s\t%.2f×\t%s\n", g.name, thousands(float64(m*g.unit)),
				pick(m, cpu).median(), ratio(pick(m, cpu), pick(1, cpu)).median(),
				micros(pick(m, half).median()), ratio(pick(m, half), pick(1, half)).median(), micros(pick(m, late).median()))
		}
	}
	t.Flush()
}
