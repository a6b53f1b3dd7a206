package load

import (
	"os"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	stat := "4242 (odd) name (x)) S 1 4242 4242 0 -1 4194560 1 2 3 4 150 50 7 8 20 0 9 0 1 2 3"
	if s, ok := parseStat([]byte(stat)); !ok || s != 2 {
		t.Errorf("%g s, %v", s, ok)
	}
	for _, bad := range []string{"", "1 (x) S", "1 (x) S 1 2 3 4 5 6 7 8 9 10 many 50"} {
		if _, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestParseStatus(t *testing.T) {
	status := []byte("Name:\tVmRSS: 1 kB\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\nThreads:\t5\n")
	for name, want := range map[string]uint64{"VmHWM:": 2 << 20, "VmRSS:": 1 << 20} {
		if n, ok := parseStatus(status, name); !ok || n != want {
			t.Errorf("%s is %d, %v", name, n, ok)
		}
	}
	if _, ok := parseStatus(status, "VmSwap:"); ok {
		t.Error("what is not there was found")
	}
}

// The meter sees this process work.
func TestMeter(t *testing.T) {
	m := startMeter(os.Getpid())
	for start := time.Now(); ; {
		u := m.usage()
		if u.CPUSeconds == nil || u.RSS == nil || *u.RSS == 0 || *u.PeakRSS < *u.RSS/2 {
			t.Fatalf("%+v", u)
		}
		if *u.CPUSeconds > 0.02 {
			break
		}
		if time.Since(start) > 30*time.Second {
			t.Fatal("it never saw any work")
		}
	}
	if u := startMeter(0).usage(); u.CPUSeconds != nil || u.RSS != nil || u.perMillion(5) != nil {
		t.Errorf("of no process: %+v", u)
	}
}
