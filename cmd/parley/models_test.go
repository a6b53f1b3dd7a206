package main

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
)

// The program finds what it needs to reach endpoints, and nothing else of ours.
func TestModelEnvironment(t *testing.T) {
	for name, value := range map[string]string{"PATH": "/bin", "HTTPS_PROXY": "http://proxy", "OPENAI_API_KEY": "sk-1", "PARLEY_TOKEN": "t", "OPENAI_BASE_URL": "http://elsewhere"} {
		t.Setenv(name, value)
	}
	env := modelEnvironment()
	for _, want := range []string{"PATH=/bin", "HTTPS_PROXY=http://proxy"} {
		if !slices.Contains(env, want) {
			t.Errorf("it lacks %s", want)
		}
	}
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "OPENAI_") || strings.HasPrefix(name, "PARLEY_") {
			t.Errorf("it holds %s", name)
		}
	}
}

func TestLineWriter(t *testing.T) {
	var got []string
	w := &lineWriter{each: func(line string) { got = append(got, line) }}
	long := strings.Repeat("x", longLine)
	for _, piece := range []string{"a", "b\nc\n", "", "\nd", long + long, long + "\n", "unfinished"} {
		if n, err := w.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Errorf("%d %v", n, err)
		}
	}
	if want := []string{"ab", "c", "", "d" + long[1:]}; !slices.Equal(got, want) {
		t.Errorf("%d lines, of %d bytes", len(got), len(strings.Join(got, "")))
	}
}

func TestModelLogLevel(t *testing.T) {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn} {
		m := &modelRun{log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: level}))}
		if got := m.level(t.Context()); got != level.String() {
			t.Errorf("%s: %s", level, got)
		}
	}
	m := &modelRun{log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))}
	if got := m.level(t.Context()); got != "WARN" {
		t.Error(got)
	}
}
