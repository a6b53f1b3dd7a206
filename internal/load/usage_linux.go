package load

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// ticksPerSecond is the unit of CPU times in /proc, on every architecture.
const ticksPerSecond = 100

// cpuSeconds is the CPU time that a process has used, in user and system mode.
func cpuSeconds(pid int) (float64, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	return parseStat(stat)
}

// parseStat reads fields 14 and 15. The second field is the program's name in
// parentheses, in which anything may stand.
func parseStat(stat []byte) (seconds float64, ok bool) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return 0, false
	}
	user, err1 := strconv.ParseUint(string(fields[11]), 10, 64)
	system, err2 := strconv.ParseUint(string(fields[12]), 10, 64)
	return float64(user+system) / ticksPerSecond, err1 == nil && err2 == nil
}

// memory is what a process holds of the machine's memory, and the most that it
// held, in bytes.
func memory(pid int) (rss, peak uint64, ok bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, false
	}
	rss, ok1 := parseStatus(status, "VmRSS:")
	peak, ok2 := parseStatus(status, "VmHWM:")
	return rss, peak, ok1 && ok2
}

func parseStatus(status []byte, name string) (n uint64, ok bool) {
	for line := range bytes.Lines(status) {
		fields := bytes.Fields(line)
		if len(fields) == 3 && string(fields[0]) == name && string(fields[2]) == "kB" {
			kib, err := strconv.ParseUint(string(fields[1]), 10, 54)
			return kib << 10, err == nil
		}
	}
	return 0, false
}
