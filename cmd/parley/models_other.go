//go:build !unix

package main

import (
	"errors"
	"os"
	"os/exec"
)

func inOwnGroup(*exec.Cmd) {}

// become runs another program in the place of this one, whose console's Ctrl-C
// reaches both.
func become(path string, args, env []string) (code int, err error) {
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}
