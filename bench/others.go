package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// other is a measurement without rivals, as "parley bench" makes it or we do.
type other struct {
	Work    string         `json:"work"`
	Round   int            `json:"round"`
	Figures map[string]any `json:"figures,omitempty"`
	Error   string         `json:"error,omitempty"`
}

type others []other

// otherWork is how one is made, and which of its figures an aim is about.
type otherWork struct {
	name    string
	figure  string
	divisor float64 // from its unit to the aim's
	rounds  int     // at most
	after   string  // the work that it is compared with, and so measured after; "" is last
	measure func(ctx context.Context, b *bench) (map[string]any, error)
}

var otherWorks = []otherWork{
	{"fsync", "p50_us", 1, many, "alone", measureFsync},
	{"append", "ratio_to_bare_sqlite", 1, many, "", func(ctx context.Context, b *bench) (map[string]any, error) {
		return b.parleyBench(ctx, "append", "--senders", "64", "--bare", "--duration", b.pace.length.String(), "--warmup", b.pace.warmup.String())
	}},
	{"join", "live_p99_ratio", 1, 3, "", func(ctx context.Context, b *bench) (map[string]any, error) {
		return b.parleyBench(ctx, "join", "--joiners", "1000", "--history", "1000", "--duration", b.pace.length.String())
	}},
	{"idle", "memory_per_connection_bytes", 1024, 1, "", func(ctx context.Context, b *bench) (map[string]any, error) {
		return b.parleyBench(ctx, "idle", "--connections", "10000", "--participants", "100", "--duration", b.pace.length.String())
	}},
	{"start", "start_after_end_in_order_median_seconds", 1, 1, "", func(ctx context.Context, b *bench) (map[string]any, error) {
		if !b.full {
			return nil, errNotAsked
		}
		return b.parleyBench(ctx, "start", "--records", "10000000")
	}},
}

const many = 1 << 30

var errNotAsked = fmt.Errorf("making that journal takes minutes: ask for it with COMPARE_FULL=1")

// others measures what there is nobody to compare with, and belongs after some
// work.
func (b *bench) others(ctx context.Context, round int, rep *report, after string) error {
	for _, w := range otherWorks {
		if w.after != after || round > w.rounds || b.pace.few && round > 1 && w.rounds < many || !b.wanted(w.name) {
			continue
		}
		figures, err := w.measure(ctx, b)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		o := other{Work: w.name, Round: round, Figures: figures}
		if err != nil {
			o.Error = err.Error()
		}
		rep.Others = append(rep.Others, o)
		fmt.Fprintf(os.Stderr, "round %d  %-12s %s: %v %s\n", round, w.name, w.figure, figures[w.figure], o.Error)
	}
	return nil
}

// of are the values of a figure, by round.
func (all others) of(work, figure string) samples {
	var list samples
	for _, o := range all {
		if v, ok := o.Figures[figure].(float64); ok && o.Work == work {
			list = append(list, sample{o.Round, v})
		}
	}
	return list
}

// figure is what an aim is about, or why it is not there.
func (all others) figure(work string) (samples, string) {
	i := slices.IndexFunc(otherWorks, func(w otherWork) bool { return w.name == work })
	list := all.of(work, otherWorks[i].figure)
	for j := range list {
		list[j].value /= otherWorks[i].divisor
	}
	why := "it was not tried"
	for _, o := range all {
		if o.Work == work && o.Error != "" {
			why = o.Error
		}
	}
	return list, why
}

// parleyBench runs a bench of Parley's own, with a gateway of its own.
func (b *bench) parleyBench(ctx context.Context, args ...string) (map[string]any, error) {
	var out bytes.Buffer
	said := new(tail)
	args = append([]string{"bench"}, append(args, "--json", "--dir", b.scratch)...)
	cmd := exec.CommandContext(ctx, b.parley, args...)
	cmd.Stdout, cmd.Stderr = &out, said
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("parley bench %s: %w: %s", args[1], err, said)
	}
	var res struct {
		Figures map[string]any `json:"figures"`
	}
	if err := json.Unmarshal(out.Bytes(), &res); err != nil {
		return nil, fmt.Errorf("parley bench %s says %.200q", args[1], out.Bytes())
	}
	return res.Figures, nil
}

// measureFsync takes the time of appending a message to a file and syncing it,
// as often as the lone sender of the work "alone" sends.
func measureFsync(ctx context.Context, b *bench) (map[string]any, error) {
	path := filepath.Join(b.scratch, "fsync")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer os.Remove(path)
	defer f.Close()
	message := bytes.Repeat([]byte("x"), size)
	var times samples
	tick := time.NewTicker(time.Second / loneRate)
	defer tick.Stop()
	for end := time.Now().Add(b.pace.length); time.Now().Before(end); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		start := time.Now()
		if _, err := f.Write(message); err != nil {
			return nil, err
		}
		if err := f.Sync(); err != nil {
			return nil, err
		}
		times = append(times, sample{value: float64(time.Since(start).Nanoseconds()) / 1e3})
	}
	return map[string]any{"p50_us": times.median(), "samples": float64(len(times))}, nil
}

// markdown writes the single numbers that every bench came to.
func (all others) markdown(w io.Writer) {
	for _, k := range otherWorks {
		first := true
		for _, o := range all {
			if o.Work != k.name || o.Error != "" {
				continue
			}
			if first {
				fmt.Fprintf(w, "\n## parley bench %s, by round\n\n", k.name)
				first = false
			}
			text, _ := json.Marshal(o.Figures)
			fmt.Fprintf(w, "    %s\n", text)
		}
	}
}
