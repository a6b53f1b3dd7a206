package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley/internal/load"
)

// The test is its own load and its own floor.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "worker" || os.Args[1] == "floor") {
		main()
		return
	}
	os.Exit(m.Run())
}

func testBench(t *testing.T) *bench {
	b := &bench{
		bin: t.TempDir(), results: t.TempDir(), parley: "/does/not/exist",
		pace: pace{rounds: 1, warmup: 20 * time.Millisecond, length: 100 * time.Millisecond, budget: time.Minute},
	}
	if err := b.prepare(); err != nil {
		t.Fatal(err)
	}
	return b
}

// A whole run, of what there is without any other program: the rest is told
// with its reason.
func TestCompare(t *testing.T) {
	b := testBench(t)
	b.only = "fanout-200"
	if err := os.WriteFile(b.program("mosquitto.missing"), []byte("no such package\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.program("ws.missing"), []byte("node is not installed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	page := traffic(t, b)
	for _, want := range []string{
		"| mosquitto | not measured: no such package |",
		"| nats-server, plain | not measured: it was not fetched |",
		"| Node ws | not measured: node is not installed |",
		"| parley | not measured: parley: ",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the table does not say %q", want)
		}
	}
	again, err := os.ReadFile(filepath.Join(b.results, "compare.svg"))
	if err != nil {
		t.Fatal(err)
	}
	if err := draw([]string{filepath.Join(b.results, "compare.json")}); err != nil {
		t.Fatal(err)
	}
	if svg, _ := os.ReadFile(filepath.Join(b.results, "compare.svg")); !bytes.Equal(svg, again) {
		t.Error("drawn from the raw figures it is another picture")
	}
}

// traffic compares until messages have come through the floor: a busy machine
// may not get round to it in a short time.
func traffic(t *testing.T, b *bench) (page []byte) {
	for ; b.pace.length < 20*time.Second; b.pace.length *= 4 {
		if err := b.compare(t.Context()); err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join(b.results, "compare.md"))
		if err != nil {
			t.Fatal(err)
		}
		for row := range strings.Lines(string(page)) {
			cells := strings.Split(row, " | ")
			if n, err := strconv.Atoi(strings.ReplaceAll(cells[min(1, len(cells)-1)], ",", "")); err == nil && n > 0 && cells[0] == "| floor, 16 frames per write" {
				return page
			}
		}
		t.Logf("nothing within %v:\n%s", b.pace.length, page)
	}
	t.Fatal("nothing comes through the floor")
	return nil
}

func TestCompareEndsWhenToldTo(t *testing.T) {
	b := testBench(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("Ctrl-C"))
	if err := b.compare(ctx); err == nil || !strings.Contains(err.Error(), "Ctrl-C") {
		t.Error(err)
	}
}

// frame is a short frame as a sender of the floor sends it.
func frame(s string) string { return string([]byte{0x81, byte(len(s))}) + s }

// However frames come in, so many of them go out in one write; what is left
// over goes when it is late.
func TestFloorPasses(t *testing.T) {
	long := string([]byte{0x81, 126, 0, 200}) + strings.Repeat("x", 200)
	for _, c := range []struct {
		frames int
		in     string
		late   bool
		want   []string // writes
		left   string
	}{
		{1, frame("a") + frame("b"), false, []string{frame("a"), frame("b")}, ""},
		{2, frame("a") + frame("b") + frame("c"), false, []string{frame("a") + frame("b")}, frame("c")},
		{2, frame("a") + frame("b") + frame("c"), true, []string{frame("a") + frame("b"), frame("c")}, ""},
		{2, frame("a") + long + "\x81", true, []string{frame("a") + long}, "\x81"},
		{1, long[:3], true, nil, long[:3]},
		{1, long[:100], true, nil, long[:100]},
		{4, "", true, nil, ""},
	} {
		var out writes
		f := floor{frames: c.frames, receivers: []net.Conn{&out}}
		done := f.pass([]byte(c.in), c.late)
		if got := []string(out.got); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) || c.in[done:] != c.left {
			t.Errorf("%d of %.40q, late %v: %q, left %q", c.frames, c.in, c.late, got, c.in[done:])
		}
	}
}

// writes is a connection that keeps what is written.
type writes struct {
	net.Conn
	got []string
}

func (w *writes) Write(p []byte) (int, error) {
	w.got = append(w.got, string(p))
	return len(p), nil
}

func TestFloorServes(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- (&floor{frames: 16}).serve(ctx, l) }()
	receiver, sender := join(t, l, load.FloorReceiver), join(t, l, load.FloorSender)
	if _, err := io.WriteString(sender, frame("a")+frame("b")); err != nil {
		t.Fatal(err)
	}
	want := frame("a") + frame("b") // fewer than 16: they come because they are late
	got := make([]byte, len(want))
	if _, err := io.ReadFull(receiver, got); err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func join(t *testing.T, l net.Listener, role byte) net.Conn {
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := nc.Write([]byte{role}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(nc, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return nc
}

func TestSamples(t *testing.T) {
	s := samples{{1, 4}, {2, 1}, {3, 9}}
	if least, most := s.spread(); s.median() != 4 || least != 1 || most != 9 {
		t.Error(s.median(), least, most)
	}
	if m := s[:2].median(); m != 2.5 {
		t.Error("of two:", m)
	}
	if m := (samples)(nil).median(); !math.IsNaN(m) {
		t.Error("of nothing:", m)
	}
	// A round that one of them lacks counts for neither.
	if r := ratio(s, samples{{3, 3}, {1, 2}, {7, 1}}); len(r) != 2 || r[0] != (sample{1, 2}) || r[1] != (sample{3, 3}) {
		t.Error(r)
	}
}

// made is a report in which every server did something.
func made(core map[string]float64) *report {
	r := &report{Machine: "a <machine> & more", Skipped: map[string]string{"mosquitto": "no | package"}}
	for round := 1; round <= 3; round++ {
		for _, w := range works {
			for _, name := range w.servers {
				if r.Skipped[name] != "" {
					continue
				}
				v, ok := core[name]
				if !ok {
					v = 0.5
				}
				cpu, memory := 1.0, uint64(20<<20+w.receivers*10_000)
				res := &load.FanoutResult{Deliveries: uint64(v * 1e6 * float64(round)), MessagesPerSecond: 1000,
					Latency: load.Latency{Samples: 9, P50: 200, P99: 1000 / v}, Server: load.Usage{CPUSeconds: &cpu, PeakRSS: &memory}}
				r.Cells = append(r.Cells, cell{Work: w.name, Server: name, Round: round, Result: res})
			}
		}
		r.Others = append(r.Others,
			other{Work: "fsync", Round: round, Figures: map[string]any{"p50_us": 150.0}},
			other{Work: "append", Round: round, Figures: map[string]any{"ratio_to_bare_sqlite": 0.6}},
			other{Work: "idle", Round: round, Figures: map[string]any{"memory_per_connection_bytes": 10240.0}},
			other{Work: "start", Round: round, Error: "nobody asked"})
	}
	return r
}

func TestJudge(t *testing.T) {
	r := made(map[string]float64{"parley": 2.4, "floor, 16 frames per write": 3, rival: 1.5})
	r.judge()
	var got []string
	for _, a := range r.Aims {
		measured, spread := a.figures()
		got = append(got, strings.Join([]string{a.wanted(), measured, spread, a.Verdict()}, "; "))
	}
	want := []string{
		"≥ 0.70×; 0.80×; 0.80× – 0.80×; holds",
		"≥ 2.00×; 1.60×; 1.60× – 1.60×; missed",
		"≥ 1.00×; 1.60×; 1.60× – 1.60×; holds",
		"≥ 1.00×; 1.60×; 1.60× – 1.60×; holds",
		"≥ 1.00×; 1.60×; 1.60× – 1.60×; holds",
		"≥ 1.00×; 1.60×; 1.60× – 1.60×; holds",
		"≤ 1.50×; 0.63×; 0.63× – 0.63×; holds",
		"≤ 1.50×; 0.63×; 0.63× – 0.63×; holds",
		"≤ 300 µs; 200 µs; 200 µs – 200 µs; holds",
		"≤ 2.00×; 1.33×; 1.33× – 1.33×; holds",
		"≥ 0.70×; 0.60×; 0.60× – 0.60×; missed",
		"≤ 20.0 KiB; 9.8 KiB; 9.8 KiB – 9.8 KiB; holds",
		"≤ 12.0 KiB; 10.0 KiB; 10.0 KiB – 10.0 KiB; holds",
		"≤ 1.00 s; not measured: nobody asked; ; ",
		"≤ 5.00×; not measured: it was not tried; ; ",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestNoFigureOutOfZero(t *testing.T) {
	if a := (aim{AtLeast: 1, Unit: times}).of(ratio(samples{{1, 1}}, samples{{1, 0}}), "it did nothing"); a.Rounds != 0 || a.Verdict() != "" {
		t.Errorf("%+v", a)
	}
}

// The picture is well-formed, and nothing in it lies outside of it.
func TestChart(t *testing.T) {
	r := made(map[string]float64{"parley": 2.4, rival: 0.001})
	var out bytes.Buffer
	if err := chart(&out, r.panels(), r.Machine); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a &lt;machine&gt; &amp; more", "not measured: no | package", "2 receivers, as fast as can be", "prefers-color-scheme: dark"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	var width, height float64
	d := xml.NewDecoder(&out)
	bars := 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		at := map[string]float64{}
		for _, a := range e.Attr {
			at[a.Name.Local], _ = strconv.ParseFloat(a.Value, 64)
		}
		switch e.Name.Local {
		case "svg":
			width, height = at["width"], at["height"]
		case "rect":
			bars++
			if at["width"] < 0 || at["x"]+at["width"] > width || at["y"]+at["height"] > height {
				t.Errorf("a bar outside: %v", e.Attr)
			}
		case "circle", "text", "line":
			for _, v := range []float64{at["cx"], at["x"], at["x1"], at["x2"]} {
				if v < 0 || v > width {
					t.Errorf("outside: %v", e.Attr)
				}
			}
		}
	}
	if bars < 30 {
		t.Errorf("%d bars", bars)
	}
}

func TestScaleOfAxes(t *testing.T) {
	for most, want := range map[float64]string{
		0: "1 4", 3.3: "0.5 7", 7: "1 7", 8.1: "2 5", 950: "200 5", 0.04: "0.005 8", 1: "0.2 5",
	} {
		step, ticks := scale(most)
		if got := fmt.Sprintf("%.4g %d", step, ticks); got != want {
			t.Errorf("up to %v: %s, want %s", most, got, want)
		}
	}
	if got := tick(0.5, 0.5) + " " + tick(1500, 500) + " " + tick(0.015, 0.005); got != "0.5 1,500 0.015" {
		t.Error(got)
	}
}

func TestWords(t *testing.T) {
	for v, want := range map[float64]string{1: "1.0 µs", 428.4: "428 µs", 9999: "9,999 µs", 672137: "672 ms", 1.2e6: "1,200 ms"} {
		if got := micros(v); got != want {
			t.Errorf("%v: %q", v, got)
		}
	}
	for v, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		if got := thousands(v); got != want {
			t.Errorf("%v: %q", v, got)
		}
	}
}

func TestParleysConfiguration(t *testing.T) {
	folder := t.TempDir()
	command, err := parleyCommand(&bench{parley: "parley"}, folder, 1234, gateway{sync: "full", spaces: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(command, " "); got != "parley up --config "+filepath.Join(folder, "parley.yaml") {
		t.Error(got)
	}
	conf, err := os.ReadFile(filepath.Join(folder, "parley.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"listen: 127.0.0.1:1234\n", "sync: full", "\n  bench:\n", "\n  other1:\n", "\n  other2:\n", "p15:"} {
		if !strings.Contains(string(conf), want) {
			t.Errorf("the configuration lacks %q", want)
		}
	}
}

func TestScaleIsPrinted(t *testing.T) {
	var all []scaled
	for round := 1; round <= 3; round++ {
		for _, m := range multiples {
			all = append(all, scaled{Growth: growths[0].name, Multiple: m, Round: round, CPU: 10 * float64(m), P50: 100, P99: 1000})
		}
	}
	var out bytes.Buffer
	printScale(&out, all)
	if !strings.Contains(out.String(), "envelopes on record  800,000  160.0 µs          16.00×  100 µs  1.00×  1,000 µs\n") {
		t.Error(out.String())
	}
}
