//go:build !unix

package mcpbridge

import "os/exec"

// Without process groups only the program itself can be ended; what it started
// sees its input close.
func ownGroup(*exec.Cmd)           {}
func terminateGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
func killGroup(cmd *exec.Cmd)      { _ = cmd.Process.Kill() }
