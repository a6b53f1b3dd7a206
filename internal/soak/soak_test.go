package soak

import (
	"flag"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/parleyhq/parley/internal/built"
)

var (
	duration = flag.Duration("duration", 10*time.Second, "how long the gateway is at work")
	given    = flag.String("program", "", "the parley that runs; built from the source by default")
	seed     = flag.Uint64("seed", 0, "decides who does what; 0 is a random one, which is printed")
)

func TestMain(m *testing.M) { built.Main(m) }

func program(t *testing.T) string {
	t.Helper()
	if *given != "" {
		return *given
	}
	return built.Program(t, "../../cmd/parley")
}

// A gateway that everybody uses in every way gives back what it takes.
func TestSoak(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the figures of a process are those of Linux")
	}
	report, err := Run(t.Context(), Options{Program: program(t), Dir: t.TempDir(), Duration: *duration, Seed: *seed, Out: os.Stdout})
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range report.Faults {
		t.Error(fault)
	}
}
