package sqlite

import (
	"os"
	"strings"
)

// bootID names the machine's current run, or is empty where there is nothing
// to ask; then every unclean end counts as a power loss.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}
