package soak

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const mega = 1 << 20

// flat is a run in which nothing grows.
func flat() *Report {
	values := [watched]float64{goroutines: 40, files: 50, resident: 300 * mega, heap: 20 * mega, live: 25 * mega}
	r := &Report{Measure: Quiet{sample: sample{values: values}}, End: Quiet{sample: sample{values: values}}}
	for i := range 100 {
		busy := values
		busy[goroutines] += float64(60 + i%7)
		busy[resident] += float64(i%5) * mega
		r.Samples = append(r.Samples, sample{at: time.Duration(i) * time.Second, values: busy})
	}
	return r
}

// Every bound is seen to be exceeded.
func TestFiguresAreJudged(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*Report)
		want  string // how the one fault begins; empty is none
	}{
		{"flat", func(*Report) {}, ""},
		{"within the bounds", func(r *Report) {
			for i, b := range bounds {
				r.End.values[i] += b
			}
		}, ""},
		{"goroutines", func(r *Report) { r.End.values[goroutines] += 7 }, "goroutines: 47.0"},
		{"files", func(r *Report) { r.End.values[files] += 15 }, "open files: 65.0"},
		{"resident memory", func(r *Report) { r.End.values[resident] += 49 * mega }, "resident memory, MiB: 349.0"},
		{"heap", func(r *Report) { r.End.values[heap] += 17 * mega }, "heap in use, MiB: 37.0"},
		{"what the collector finds alive", func(r *Report) { r.End.values[live] += 9 * mega }, "next collection at, MiB: 34.0"},
		{"what is remembered is allowed", func(r *Report) {
			r.Measure.figures = admitted(1_000)
			r.End.figures = admitted(1_000 + 16_384)
			r.End.values[heap] += 31 * mega // 16, and 16,384 envelopes of 512 bytes, twice
		}, ""},
		{"no more than is remembered", func(r *Report) {
			r.Measure.figures = admitted(remembered)
			r.End.figures = admitted(100 * remembered)
			r.End.values[heap] += 17 * mega
		}, "heap in use, MiB: 37.0"},
		{"growing", func(r *Report) {
			for i := range r.Samples {
				r.Samples[i].values[resident] += float64(i) * 2 * mega
			}
		}, "resident memory, MiB grew by 9"},
		{"grew, and is flat since", func(r *Report) {
			for i := range r.Samples {
				r.Samples[i].values[resident] += float64(min(i, 50)) * 4 * mega
			}
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := flat()
			c.spoil(r)
			faults := append(r.returned(r.End), r.rising()...)
			switch {
			case c.want == "" && len(faults) > 0:
				t.Errorf("found %q", faults)
			case c.want != "" && (len(faults) != 1 || !strings.HasPrefix(faults[0], c.want)):
				t.Errorf("found %q, want one that begins with %q", faults, c.want)
			}
		})
	}
}

func admitted(n float64) figures {
	return figures{`parley_envelopes_admitted_total{space="kept"}`: n}
}

func TestWhatWasNotSeenIsMissing(t *testing.T) {
	deeds, f := map[string]int{}, figures{}
	for _, d := range wanted {
		deeds[d] = 1
	}
	for _, code := range wantedCodes {
		f[`parley_envelopes_refused_total{code="`+string(code)+`",space="small"}`] = 2
	}
	if got := missing(deeds, f); len(got) > 0 {
		t.Errorf("missing: %q", got)
	}
	delete(deeds, "redacted")
	f[`parley_envelopes_refused_total{code="rate_limited",space="small"}`] = 0
	if got, want := missing(deeds, f), []string{"never seen: redacted", "never refused: rate_limited"}; !slices.Equal(got, want) {
		t.Errorf("missing: %q, want %q", got, want)
	}
}

func TestFaultsAreHeard(t *testing.T) {
	for _, c := range []struct{ said, want string }{
		{`{"time":"x","level":"WARN","msg":"slow"}` + "\n", ""},
		{`{"time":"x","level":"ERROR","msg":"a request failed"}` + "\n" + `{"level":"INFO","msg":"next"}` + "\n",
			`the gateway said: {"time":"x","level":"ERROR","msg":"a request failed"}`},
		{"==================\nWARNING: DATA RACE\nRead at 0x00c000\n", "the gateway said: WARNING: DATA RACE\n    Read at 0x00c000"},
		{"panic: send on closed channel\n\ngoroutine 7 [running]:\n", "the gateway said: panic: send on closed channel\n    \n    goroutine 7 [running]:"},
		{"fatal error: all goroutines are asleep - deadlock!\n", "the gateway said: fatal error: all goroutines are asleep - deadlock!"},
	} {
		got, err := heard(strings.NewReader(c.said))
		if all := strings.Join(got, "|"); err != nil || all != c.want {
			t.Errorf("%q: heard %q, %v; want %q", c.said, all, err, c.want)
		}
	}
}

func TestFiguresAreRead(t *testing.T) {
	f, err := readFigures(strings.NewReader("# HELP x y\nx 1.5e+06\ny{a=\"1\",space=\"s t\"} 2\ny{a=\"2\"} 3\n\n"))
	if err != nil || f.sum("x") != 1.5e6 || f.sum("y") != 5 || f.sum("y", `a="2"`) != 3 || f.sum("y", `a="3"`) != 0 {
		t.Errorf("read %v, %v", f, err)
	}
	for _, bad := range []string{"x", "x one", " 1 a"} {
		if f, err := readFigures(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was read as %v", bad, f)
		}
	}
}
