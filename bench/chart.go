package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// panel is one of the pictures of the chart: a bar for each server.
type panel struct {
	title, note string
	unit        string
	bars        []bar
}

// bar is a server's figure: its median is the bar, its rounds are dots.
type bar struct {
	label  string
	rounds samples
	ours   bool
	floor  bool
	text   string // the figure in words
	lack   string // why there is none
}

// panels are what the chart shows of a report.
func (r *report) panels() (list []panel) {
	for _, k := range works {
		if len(r.rows(k)) == 0 || strings.HasPrefix(k.name, "memory") || strings.HasPrefix(k.name, "calm") {
			continue
		}
		p := panel{title: k.title}
		f, text := perCoreSecond, func(v float64) string { return decimals(v/1e6) + " M" }
		p.note, p.unit = "deliveries in a second of the server's CPU time; more is better", "millions"
		scale := 1e-6
		if k.half != "" {
			f, text, scale = p99, micros, 1e-3
			p.note, p.unit = "99 of 100 messages are received within this time; less is better", "milliseconds"
		}
		if k.name == "alone" {
			f, text, scale = p50, micros, 1
			p.note, p.unit = "half of the messages are received within this time; less is better", "microseconds"
		}
		for _, name := range r.seen(k) {
			s := r.Cells.of(k.name, name, f)
			b := bar{label: name, ours: strings.HasPrefix(name, "parley"), floor: strings.HasPrefix(name, "floor")}
			if len(s) == 0 {
				b.lack = r.reason(k.name, name)
			} else {
				b.text = text(s.median())
			}
			for _, v := range s {
				b.rounds = append(b.rounds, sample{v.round, v.value * scale})
			}
			p.bars = append(p.bars, b)
		}
		list = append(list, p)
	}
	return list
}

// The measures of the picture, in its own units.
const (
	chartWidth = 860
	labelWidth = 210 // left of the bars
	valueWidth = 90  // right of the longest
	barHeight  = 16
	barStep    = 24
	panelHead  = 52
	panelFoot  = 46
	chartHead  = 64
)

// style holds in light and in dark surroundings.
const style = `
svg { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
.paper { fill: #ffffff; } text { fill: #1f2328; } .soft { fill: #59636e; font-size: 11.5px; }
.h1 { font-size: 20px; font-weight: 600; } .h2 { font-size: 14.5px; font-weight: 600; }
.grid { stroke: #d8dee4; } .axis { stroke: #8c959f; } .bar { fill: #a9b4c0; } .ours { fill: #0f766e; } .floor { fill: #d9b26f; }
.dot { fill: #1f2328; fill-opacity: .55; } .strong { font-weight: 600; } .end { text-anchor: end; } .mid { text-anchor: middle; }
@media (prefers-color-scheme: dark) {
.paper { fill: #0d1117; } text { fill: #e6edf3; } .soft { fill: #9198a1; }
.grid { stroke: #2b323b; } .axis { stroke: #6e7681; } .bar { fill: #5c6773; } .ours { fill: #2dd4bf; } .floor { fill: #b98a3c; }
.dot { fill: #ffffff; fill-opacity: .6; }
}
`

// chart draws panels one below the other.
func chart(w io.Writer, panels []panel, machine string) error {
	height := chartHead
	for _, p := range panels {
		height += p.height()
	}
	d := &drawing{w: w}
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="t">`,
		chartWidth, height, chartWidth, height)
	d.printf(`<title id="t">Parley in comparison</title><style>%s</style>`, style)
	d.printf(`<rect class="paper" width="%d" height="%d"/>`, chartWidth, height)
	d.text(20, 32, "h1", "Parley in comparison")
	d.text(20, 51, "soft", machine+". Bars are medians, dots are rounds.")
	y := chartHead
	for _, p := range panels {
		d.panel(p, y)
		y += p.height()
	}
	d.printf("</svg>\n")
	return d.err
}

func (p panel) height() int { return panelHead + len(p.bars)*barStep + panelFoot }

// most is the largest value that is drawn.
func (p panel) most() float64 {
	most := 0.0
	for _, b := range p.bars {
		for _, v := range b.rounds {
			most = max(most, v.value)
		}
	}
	return most
}

// drawing writes, and keeps the first error.
type drawing struct {
	w   io.Writer
	err error
}

func (d *drawing) printf(format string, args ...any) {
	if d.err == nil {
		_, d.err = fmt.Fprintf(d.w, format, args...)
	}
}

func (d *drawing) text(x, y float64, class, s string) {
	d.printf(`<text x="%.1f" y="%.1f" class="%s">`, x, y, class)
	if d.err == nil {
		d.err = xml.EscapeText(d.w, []byte(s))
	}
	d.printf("</text>\n")
}

func (d *drawing) line(class string, x1, y1, x2, y2 float64) {
	d.printf(`<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

func (d *drawing) panel(p panel, top int) {
	y := float64(top)
	d.text(20, y+22, "h2", p.title)
	d.text(20, y+40, "soft", p.note)
	y += panelHead
	bottom := y + float64(len(p.bars)*barStep)
	step, ticks := scale(p.most())
	wide := float64(chartWidth - labelWidth - valueWidth)
	x := func(v float64) float64 { return labelWidth + wide*v/(step*float64(ticks)) }
	for i := range ticks + 1 {
		at := x(step * float64(i))
		d.line("grid", at, y, at, bottom)
		d.text(at, bottom+15, "soft mid", tick(step*float64(i), step))
	}
	d.text(x(step*float64(ticks)/2), bottom+31, "soft mid", p.unit)
	for i, b := range p.bars {
		d.bar(b, y+float64(i*barStep)+(barStep-barHeight)/2, x)
	}
	d.line("axis", x(0), y, x(0), bottom)
}

func (d *drawing) bar(b bar, y float64, x func(float64) float64) {
	class, label := "bar", "end"
	switch {
	case b.ours:
		class, label = "ours", "end strong"
	case b.floor:
		class = "floor"
	}
	base := y + barHeight - 4
	d.text(labelWidth-10, base, label, b.label)
	if b.lack != "" {
		d.text(x(0)+8, base, "soft", shorten("not measured: "+b.lack, 90))
		return
	}
	median := b.rounds.median()
	d.printf(`<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%d" rx="2"/>`, class, x(0), y, x(median)-x(0), barHeight)
	end := x(median)
	for _, v := range b.rounds {
		d.printf(`<circle class="dot" cx="%.1f" cy="%.1f" r="2.2"/>`, x(v.value), y+barHeight/2)
		end = max(end, x(v.value))
	}
	d.text(end+8, base, label[len("end"):], b.text)
}

// scale finds how an axis is marked: 4 to 8 steps of 1, 2 or 5 that reach past
// the most.
func scale(most float64) (step float64, ticks int) {
	if most <= 0 || math.IsInf(most, 0) || math.IsNaN(most) {
		return 1, 4
	}
	step = math.Pow(10, math.Floor(math.Log10(most/8)))
	for _, m := range []float64{1, 2, 5, 10} {
		if ticks = int(math.Ceil(most / (step * m))); ticks <= 8 {
			return step * m, max(ticks, 1)
		}
	}
	return step * 10, ticks
}

func tick(v, step float64) string {
	places := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	s := fmt.Sprintf("%.*f", places, v)
	if places == 0 {
		return thousands(v)
	}
	return s
}

func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(slices.Concat(r[:n-1], []rune("…")))
}
