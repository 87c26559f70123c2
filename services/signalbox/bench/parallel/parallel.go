// Package parallel runs a function for many numbers at a time.
package parallel

import (
	"context"
	"sync"
)

// Do calls f for each of 0 to n-1, width of them at a time. The first error ends the
// context of the others. Do returns it when all calls have returned.
func Do(ctx context.Context, n, width int, f func(ctx context.Context, i int) error) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	next := make(chan int)
	var working sync.WaitGroup
	for range width {
		working.Go(func() {
			for i := range next {
				if err := f(ctx, i); err != nil {
					fail(err)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	working.Wait()
	return context.Cause(ctx)
}
