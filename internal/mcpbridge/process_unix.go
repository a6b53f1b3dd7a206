//go:build unix

package mcpbridge

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the command the leader of a process group: what it starts,
// as npx does, can be ended with it, and a Ctrl-C in our terminal is ours to
// handle.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	endWithUs(cmd.SysProcAttr)
}

func terminateGroup(cmd *exec.Cmd) { signalGroup(cmd, syscall.SIGTERM) }
func killGroup(cmd *exec.Cmd)      { signalGroup(cmd, syscall.SIGKILL) }

// signalGroup fails only where nobody is left to be signalled.
func signalGroup(cmd *exec.Cmd, sig syscall.Signal) { _ = syscall.Kill(-cmd.Process.Pid, sig) }
