package main

import (
	"fmt"
	"os/exec"
	"runtime"
)

// cores says who runs where.
type cores struct {
	pinned bool
	load   string // of the load, as taskset takes it
}

// findCores leaves the first core to the server, where there are two and
// taskset can see to it.
func findCores() cores {
	if _, err := exec.LookPath("taskset"); err != nil || runtime.NumCPU() < 2 {
		return cores{}
	}
	if runtime.NumCPU() == 2 {
		return cores{pinned: true, load: "1"}
	}
	return cores{pinned: true, load: fmt.Sprintf("1-%d", runtime.NumCPU()-1)}
}

func (c cores) server(command ...string) []string { return c.pin("0", command) }

func (c cores) worker(command ...string) []string { return c.pin(c.load, command) }

func (c cores) pin(list string, command []string) []string {
	if !c.pinned {
		return command
	}
	return append([]string{"taskset", "-c", list}, command...)
}

func (c cores) String() string {
	if !c.pinned {
		return "nothing is pinned to a core"
	}
	return "the server has core 0, the load " + c.load
}
