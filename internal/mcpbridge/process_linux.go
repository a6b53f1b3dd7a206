package mcpbridge

import "syscall"

// endWithUs lets a program be asked to terminate when we are killed: one that
// does not look at its input would stay behind.
func endWithUs(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }
