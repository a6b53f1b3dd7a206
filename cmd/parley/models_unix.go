//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// inOwnGroup keeps a Ctrl-C in our terminal from the program: it leaves when we
// say so.
func inOwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// become puts another program in the place of this one: signals reach it, and
// its exit code is ours.
func become(path string, args, env []string) (code int, err error) {
	return 0, syscall.Exec(path, append([]string{path}, args...), env)
}
