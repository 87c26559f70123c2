package local

import (
	"slices"
	"sync"
)

// unseen counts the lists that have left a row out, by its id.
type unseen struct {
	mu    sync.Mutex
	times map[int64]int
}

// shown leaves out what the caller has made too lately for a list to show it.
func shown[T any](c *call, rows []T, made func(T) (id, by int64)) []T {
	if c.f.config.Lagging == 0 {
		return rows
	}
	u := &c.f.unseen
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.times == nil {
		u.times = map[int64]int{}
	}
	return slices.DeleteFunc(rows, func(row T) bool {
		id, by := made(row)
		if by != c.user.ID || u.times[id] >= c.f.config.Lagging {
			return false
		}
		u.times[id]++
		return true
	})
}
