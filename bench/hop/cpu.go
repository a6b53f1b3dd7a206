package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit in which Linux tells CPU time.
const tick = 10 * time.Millisecond

// consumed is the CPU time that a process and all that it started have taken. It
// is 0 where the system does not tell.
func consumed(pid int) (total time.Duration) {
	parents, took := map[int]int{}, map[int]time.Duration{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		id, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			continue
		}
		parents[id], took[id] = readStat(string(line))
	}
	for id := range took {
		for p := id; p != 0; p = parents[p] {
			if p == pid {
				total += took[id]
				break
			}
		}
	}
	return total
}

// readStat reads the parent and the CPU time from a line of /proc/PID/stat. What
// stands in front, the program's name, may hold anything.
func readStat(line string) (parent int, took time.Duration) {
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) < 13 {
		return 0, 0
	}
	parent, _ = strconv.Atoi(fields[1])
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return parent, time.Duration(user+system) * tick
}
