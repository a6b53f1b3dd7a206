package main

import (
	"cmp"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal/sqlite"
	"github.com/parleyhq/parley/internal/load"
)

func newBench(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench VERB",
		Short: "Measure what a gateway can do on this machine",
		Long: `Measure a gateway. Without --against it is one of its own, in a process of its own,
with a journal in a temporary folder and no limit on rates. The load is made in further
processes, so that what the gateway uses of the machine can be told from what they use.

Latencies are taken from the moment at which something should have been sent. Figures of
one machine say little about another: compare within one run.

With --against the same load goes to a gateway that runs already. Its participants are told
by their tokens, one --token-file each; all of them have to be allowed to chat, and for
"call" to call the tool echo. It is put under stress, and keeps everything on record: use
a space made for that.`,
		Example: `  parley bench fanout --receivers 200
  parley bench append --senders 64 --bare
  parley bench call --against http://127.0.0.1:7717 --token-file you.token --to echo`,
		Args: group(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("measure what?").hint("parley bench --help lists what can be measured")
		},
	}
	cmd.AddCommand(
		newBenchFanout(t), newBenchCall(t), newBenchAppend(t), newBenchJoin(t), newBenchResume(t),
		newBenchIdle(t), newBenchStart(t),
		newBenchWorker(), newBenchGateway(t), newBenchEcho(),
	)
	return cmd
}

// newBenchWorker makes load for a bench that runs it.
func newBenchWorker() *cobra.Command {
	return &cobra.Command{
		Use:     "worker",
		Short:   "Make a part of the load",
		Example: "  echo JOB | parley bench worker\n  # parley bench starts it by itself",
		Hidden:  true,
		Args:    arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return load.Work(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

// benchFlags are what every bench has in common.
type benchFlags struct {
	target
	tokenFiles []string
	pid        int

	sync    string
	dir     string
	profile string

	size     int
	warmup   time.Duration
	duration time.Duration
}

func (b *benchFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&b.url, "against", "", "the `URL` of a gateway that runs, in place of one of our own")
	f.StringVar(&b.space, "space", "", "with --against: the `SPACE` (PARLEY_SPACE, else the only one)")
	f.StringArrayVar(&b.tokenFiles, "token-file", nil, "with --against: `FILE` with a participant's token (else PARLEY_TOKEN); may be repeated")
	f.IntVar(&b.pid, "pid", 0, "with --against: the gateway's process, to tell its CPU time and memory")
	f.StringVar(&b.sync, "sync", "normal", "the journal's `MODE`: full, normal or off")
	f.StringVar(&b.dir, "dir", "", "the `FOLDER` in which the temporary journal is made")
	f.StringVar(&b.profile, "profile", "", "write the gateway's CPU profile, of the measured part, to this `FILE`")
	f.IntVar(&b.size, "size", 300, "the length of an envelope as it is delivered, in `BYTES`")
	f.DurationVar(&b.warmup, "warmup", time.Second, "the `TIME` before anything is measured")
	f.DurationVar(&b.duration, "duration", 5*time.Second, "the `TIME` that is measured")
}

// check refuses flags that make no sense together.
func (b *benchFlags) check(need benchNeed) error {
	if _, err := sqlite.ParseSync(b.sync); err != nil {
		return usagef("--sync cannot be %.40q", b.sync).hint("write full, normal or off")
	}
	switch {
	case b.url == "" && (len(b.tokenFiles) > 0 || b.pid != 0 || b.space != ""):
		return usagef("--token-file, --pid and --space go with --against")
	case b.url != "" && b.profile != "":
		return usagef("--profile is for a gateway of the bench's own").hint("leave out --against, or --profile")
	case b.pid < 0:
		return usagef("--pid cannot be %d", b.pid).hint("write the number of the gateway's process")
	}
	return cmp.Or(
		checkTime("duration", b.duration, time.Millisecond), checkTime("warmup", b.warmup, 0),
		b.checkSize(need), checkProfile(b.profile),
	)
}

// benchWorker is how the program starts itself as a worker.
func benchWorker() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, parley.Errorf(parley.Unavailable, "this program does not find itself: %v", err)
	}
	return []string{self, "bench", "worker"}, nil
}
