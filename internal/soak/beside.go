package soak

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// auditor verifies the journal's file from time to time, beside the gateway
// that writes it.
func (s *soak) auditor(ctx context.Context, rnd *rand.Rand) {
	for pause := s.opts.Duration / 30; rest(ctx, rnd, pause); {
		began := time.Now()
		for _, space := range []string{keeps, drops} {
			s.verify(ctx, space)
		}
		pause = max(pause, 10*time.Since(began))
	}
}

// verify has the program itself verify a space, up to a head that was kept if
// one is given.
func (s *soak) verify(ctx context.Context, space string, head ...string) {
	args := []string{"log", "verify", "--json", "--journal", s.journal, "--space", space}
	for _, h := range head {
		args = append(args, "--head", h)
	}
	cmd := exec.CommandContext(ctx, s.opts.Program, args...)
	cmd.Env = append(os.Environ(), raceOptions)
	switch out, err := cmd.CombinedOutput(); {
	case ctx.Err() != nil:
	case err != nil || !strings.Contains(string(out), `"ok":true`):
		s.tally.fault("parley log verify of %s: %v: %s", space, err, out)
	default:
		s.tally.did("verified beside the gateway")
	}
}

// killer ends the program of a bridge now and then. The pauses are so long that
// each bridge is back at once: one that dies again and again is waited with.
func (s *soak) killer(ctx context.Context, rnd *rand.Rand) {
	const healthy = 35 * time.Second
	for pause := s.opts.Duration / 5; sleep(ctx, min(pause, healthy)); pause = healthy {
		pids := s.gateway.children()
		if len(pids) == 0 {
			continue
		}
		if child, err := os.FindProcess(pids[rnd.IntN(len(pids))]); err == nil && child.Kill() == nil {
			s.tally.did("killed a bridged server")
		}
	}
}

// filesDir is the folder that the bridged servers serve.
func filesDir(dir string) string { return filepath.Join(dir, "files") }
