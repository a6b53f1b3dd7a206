package load

import (
	"math"
	"testing"
	"time"
)

func TestStamps(t *testing.T) {
	for _, want := range []int64{0, 1, Now(), math.MaxInt64} {
		message := AppendFiller([]byte(`{"some":"prefix ~t~`), want, 300)
		if got, ok := findStamp(message); !ok || got != want {
			t.Errorf("%d comes back as %d, %v", want, got, ok)
		}
		if n := len(message) - len(`{"some":"prefix ~t~`); n != 300 {
			t.Errorf("the filler has %d bytes", n)
		}
	}
	if n := len(AppendFiller(nil, 1, 5_000)); n != 5_000 {
		t.Errorf("a long filler has %d bytes", n)
	}
	for _, none := range []string{"", "no stamp", "~t:", "~t:0123456789abcde", "~t:0123456789ABCDEF", "~t:012345678 abcdef"} {
		if at, ok := findStamp([]byte(none)); ok {
			t.Errorf("%q has the stamp %d", none, at)
		}
	}
}

// Two processes have to agree on the time: what one calibrates twice has to
// agree as well.
func TestClocksAgree(t *testing.T) {
	start, base := calibrate()
	other := base + int64(time.Since(start))
	if d := Now() - other; d < -2e6 || d > 50e6 {
		t.Errorf("two calibrations are %d ns apart", d)
	}
}
