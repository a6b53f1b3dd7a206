package crash

import (
	"flag"
	"os"
	"testing"

	"github.com/parleyhq/parley/internal/built"
)

var (
	rounds = flag.Int("rounds", 20, "how often the gateway is killed")
	binary = flag.String("program", "", "the parley that is killed; built from the source by default")
	seed   = flag.Uint64("seed", 0, "decides when; 0 is a random one, which is printed")
)

func TestMain(m *testing.M) { built.Main(m) }

// program is the gateway's.
func program(t *testing.T) string {
	t.Helper()
	if *binary != "" {
		return *binary
	}
	return built.Program(t, "../../cmd/parley")
}

// A gateway that is killed at any moment has kept all its promises.
func TestKill(t *testing.T) {
	report, err := Run(t.Context(), Options{Program: program(t), Dir: t.TempDir(), Rounds: *rounds, Seed: *seed, Out: os.Stdout})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Faults) > 0 {
		t.Errorf("%d promises were broken, with -seed %d", len(report.Faults), report.Seed)
	}
	if len(report.Rounds) < *rounds || report.Acknowledged == 0 || report.Delivered == 0 || report.Acted == 0 {
		t.Errorf("there was too little to see: %+v", report)
	}
	if report.Checkpoints == 0 || report.Redacted == 0 || report.Records > 12_000 && report.Dropped == 0 {
		t.Errorf("nothing was redacted or dropped: %+v", report)
	}
}
