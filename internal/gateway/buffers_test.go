package gateway

import (
	"strings"
	"testing"
)

// What was large is not kept for what is small.
func TestLargeBuffersAreLetGo(t *testing.T) {
	for _, pool := range []*buffers{&scratch, &incoming} {
		for range 100 {
			large := make([]byte, 0, pool.most+1)
			pool.put(&large)
			if got := pool.get(); cap(*got) > pool.most {
				t.Fatalf("got one of %d bytes", cap(*got))
			}
		}
	}
}

// A buffer grows with what comes, and not beyond what may come.
func TestReadUpTo(t *testing.T) {
	for _, tc := range []struct{ size, most, want int }{
		{0, 100, 0}, {1, 100_000, 1_024}, {1_025, 100_000, 2_048}, {90_000, largeBytes, largeBytes}, {70_000, 70_001, 70_001},
	} {
		got, err := readUpTo(strings.NewReader(strings.Repeat("x", tc.size)), nil, tc.most)
		if err != nil || len(got) != min(tc.size, tc.most) || cap(got) > tc.want && cap(got) > 1_024 {
			t.Errorf("%d of at most %d: %d in a buffer of %d, %v", tc.size, tc.most, len(got), cap(got), err)
		}
	}
}
