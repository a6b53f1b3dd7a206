package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/parleyhq/parley"
)

func TestPace(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		speed float64
		want  time.Duration // of the pause after 2 seconds
		long  time.Duration // and after an hour
	}{{0, 0, 0}, {1, 2 * time.Second, mostPause}, {2, time.Second, mostPause}, {1e-300, mostPause, mostPause}, {3600, 555555, time.Second}} {
		var pause time.Duration
		p := &pace{speed: c.speed, wait: func(_ context.Context, d time.Duration) error { pause = d; return nil }}
		for i, step := range []struct {
			at   time.Duration
			want time.Duration
		}{{0, 0}, {2 * time.Second, c.want}, {time.Hour + 2*time.Second, c.long}, {time.Minute, 0}} {
			pause = 0
			if err := p.until(t.Context(), at.Add(step.at)); err != nil || pause != step.want {
				t.Errorf("at speed %v, pause %d is %v, %v, want %v", c.speed, i, pause, err, step.want)
			}
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := wait(ended, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("a pause that is interrupted ends with %v", err)
	}
	if err := new(pace).until(ended, at); !errors.Is(err, context.Canceled) {
		t.Errorf("a replay that is interrupted goes on: %v", err)
	}
}

func TestLevels(t *testing.T) {
	l := newLevels("root")
	for _, c := range []struct {
		id, parent string
		want       int
	}{
		{"root", "elsewhere", 0}, {"a", "root", 1}, {"b", "a", 2}, {"a", "", 1}, {"a", "b", 1},
		{"lost", "nobody", 2}, {"b", "root", 2}, {"c", "b", 3},
	} {
		if got := l.of(&parley.Context{ID: c.id, Parent: c.parent}); got != c.want {
			t.Errorf("%s in %s has level %d, want %d", c.id, c.parent, got, c.want)
		}
	}
}
