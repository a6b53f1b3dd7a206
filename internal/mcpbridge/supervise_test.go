package mcpbridge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleyhq/parley"
)

func TestBackoff(t *testing.T) {
	const least, most = 500 * time.Millisecond, time.Minute
	for _, c := range []struct {
		failures int
		random   float64
		want     time.Duration
	}{
		{1, 0, 500 * time.Millisecond},
		{1, 0.999999999, 250 * time.Millisecond},
		{2, 0, time.Second},
		{3, 0.5, 1500 * time.Millisecond},
		{7, 0, 32 * time.Second},
		{8, 0, time.Minute},
		{8, 0.5, 45 * time.Second},
		{1 << 40, 0, time.Minute},
	} {
		if got := backoff(c.failures, least, most, c.random).Round(time.Microsecond); got != c.want {
			t.Errorf("backoff(%d, %v) = %v, want %v", c.failures, c.random, got, c.want)
		}
	}
}

// supervised runs a Supervisor in a bubble. lives says of each connection in
// turn how long it lives; below zero it cannot be made, and after the last one
// lives for ever.
func supervised(t *testing.T, lives []time.Duration, act func(t *testing.T, v *Supervisor), want ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var got []string
		v := NewSupervisor(Server{Command: "memory"}, &SupervisorOptions{OnState: func(s State) {
			line := string(s.Phase)
			if s.Phase == Failed {
				line = fmt.Sprintf("failed %d: %v", s.Failures, s.Err)
				// The pause is random within a half.
				d := min(500*time.Millisecond<<(s.Failures-1), time.Minute)
				if s.RetryIn > d || s.RetryIn < d/2 {
					t.Errorf("failure %d: restarts in %v", s.Failures, s.RetryIn)
				}
			}
			got = append(got, line)
		}})
		v.connect = func(ctx context.Context, _ Server, o *Options) (*Upstream, error) {
			life := time.Duration(-1)
			forever := len(lives) == 0
			if !forever {
				life, lives = lives[0], lives[1:]
			}
			if life < 0 && !forever {
				return nil, parley.Errorf(parley.Unavailable, "the command memory was not found")
			}
			return connectMemory(ctx, o, func(in io.Reader, out io.Writer) {
				if forever {
					rawServer{in, out}.run()
					return
				}
				r, w := io.Pipe() // ends the server's input at the end of its life
				timer := time.AfterFunc(life, func() { w.Close() })
				defer timer.Stop()
				go func() {
					_, _ = io.Copy(w, in)
					w.Close()
				}()
				rawServer{r, out}.run()
			})
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			v.Run(ctx)
		}()
		act(t, v)
		cancel()
		<-ended
		if !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if v.Current() != nil {
			t.Error("there is a connection after the end")
		}
	})
}

func TestSupervisor(t *testing.T) {
	const missing = "unavailable: the command memory was not found"
	const died = "the MCP server is gone: EOF"
	long := func(*testing.T, *Supervisor) { time.Sleep(time.Hour) } // in a bubble that takes no time
	t.Run("nothing happens", func(t *testing.T) {
		supervised(t, nil, long, "starting", "ready", "stopped")
	})
	t.Run("it cannot be started at first", func(t *testing.T) {
		supervised(t, []time.Duration{-1, -1}, long,
			"starting", "failed 1: "+missing, "starting", "failed 2: "+missing, "starting", "ready", "stopped")
	})
	t.Run("it dies young", func(t *testing.T) {
		supervised(t, []time.Duration{time.Second, time.Second}, long,
			"starting", "ready", "failed 1: "+died, "starting", "ready", "failed 2: "+died, "starting", "ready", "stopped")
	})
	t.Run("it dies after a good while", func(t *testing.T) {
		supervised(t, []time.Duration{-1, time.Minute, -1}, long,
			"starting", "failed 1: "+missing, "starting", "ready", "failed 1: "+died, "starting", "failed 2: "+missing, "starting", "ready", "stopped")
	})
	t.Run("restart", func(t *testing.T) {
		supervised(t, nil, func(t *testing.T, v *Supervisor) {
			first, err := v.Ready(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			v.Restart()
			second, err := v.Ready(t.Context(), first)
			if err != nil || second == first {
				t.Errorf("got %v", err)
			}
			if got, err := second.Call(t.Context(), "test/raw", nil, nil); err != nil || string(got) != rawResult {
				t.Errorf("got %s, %v", got, err)
			}
			if err := first.Wait(); !errors.Is(err, ErrClosed) {
				t.Errorf("the first one ended with %v", err)
			}
		}, "starting", "ready", "starting", "ready", "stopped")
	})
	t.Run("restart during a pause", func(t *testing.T) {
		supervised(t, []time.Duration{-1}, func(t *testing.T, v *Supervisor) {
			synctest.Wait()
			before := time.Now()
			v.Restart()
			if _, err := v.Ready(t.Context(), nil); err != nil || time.Now() != before {
				t.Errorf("got %v after %v", err, time.Since(before))
			}
		}, "starting", "failed 1: "+missing, "starting", "ready", "stopped")
	})
	t.Run("a pause is ended", func(t *testing.T) {
		supervised(t, []time.Duration{-1}, func(t *testing.T, v *Supervisor) {
			synctest.Wait()
			before := time.Now()
			v.EndPause()
			if _, err := v.Ready(t.Context(), nil); err != nil || time.Now() != before {
				t.Errorf("got %v after %v", err, time.Since(before))
			}
		}, "starting", "failed 1: "+missing, "starting", "ready", "stopped")
	})
	t.Run("a pause is ended that has not begun", func(t *testing.T) {
		supervised(t, []time.Duration{time.Second}, func(t *testing.T, v *Supervisor) {
			first, err := v.Ready(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			v.EndPause()
			<-first.Done()
			before := time.Now()
			if _, err := v.Ready(t.Context(), first); err != nil || time.Now() == before {
				t.Errorf("got %v, and no pause", err)
			}
		}, "starting", "ready", "failed 1: "+died, "starting", "ready", "stopped")
	})
	t.Run("ended during a pause", func(t *testing.T) {
		supervised(t, []time.Duration{-1}, func(t *testing.T, v *Supervisor) {
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			if _, err := v.Ready(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		}, "starting", "failed 1: "+missing, "stopped")
	})
}

func TestMumblingServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := connectMemory(t.Context(), nil, func(in io.Reader, out io.Writer) {
			fmt.Fprintln(out, "Server started!")
			_, _ = io.Copy(io.Discard, in)
		})
		want := `unavailable: memory did not answer initialize within 2m0s; it wrote "Server started!", which is not JSON-RPC`
		if err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
	})
}

// A server that does not read holds up nobody who wants to give up.
func TestDeafServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, err := connectMemory(t.Context(), nil, func(in io.Reader, out io.Writer) {
			r := bufio.NewReader(in)
			for range 2 { // initialize and initialized
				line, _ := r.ReadString('\n')
				rawServer{strings.NewReader(line), out}.run()
			}
			<-t.Context().Done()
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for range 200 {
			if _, err := u.Call(ctx, "test/raw", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("got %v", err)
			}
		}
		u.fail(ErrClosed)
	})
}
