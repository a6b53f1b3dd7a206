package codetools

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// eachFile calls a function for each index below n, as many at a time as there
// are processors.
func eachFile(ctx context.Context, n int, do func(i int)) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}
