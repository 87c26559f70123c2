package forge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// effect is an object on the forge that must exist once. A forge does not promise that. Two
// processes that look at the same time both find nothing, and a list may be older than the
// newest object.
type effect[T any] struct {
	look     func(context.Context) ([]T, error) // all that exist
	make     func(context.Context) (T, error)
	withdraw func(context.Context, T) error
	id       func(T) int64 // of a later one it is higher
}

// visibleWithin is how long a list may take to show a new object.
const visibleWithin = 5 * time.Second

// once makes the object if there is none. It then reads back, and withdraws all but the
// oldest, as every other process that makes it does. It reads back even if ctx ends: the
// process that has the claim now may have looked before the object was made.
func (e effect[T]) once(ctx context.Context) (T, error) {
	there, err := e.look(ctx)
	if err != nil || len(there) > 0 {
		return e.only(ctx, there, err)
	}
	made, err := e.make(ctx)
	if err != nil && ctx.Err() == nil {
		return made, err // if it was made, the next try finds it
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*visibleWithin)
	defer cancel()
	there = e.seen(after, func(one T) bool { return err != nil || e.id(one) == e.id(made) })
	if err == nil && !slices.ContainsFunc(there, func(one T) bool { return e.id(one) == e.id(made) }) {
		there = append(there, made)
	}
	return e.only(after, there, err)
}

// seen looks until made returns true for an object, for visibleWithin at most.
func (e effect[T]) seen(ctx context.Context, made func(T) bool) (there []T) {
	start, pause := time.Now(), 50*time.Millisecond
	for {
		found, err := e.look(ctx)
		if err == nil {
			there = found
		}
		if slices.ContainsFunc(there, made) || time.Since(start) > visibleWithin {
			return there
		}
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			return there
		}
	}
}

// only withdraws all but the oldest. It joins its errors to err.
func (e effect[T]) only(ctx context.Context, there []T, err error) (T, error) {
	if len(there) == 0 {
		var none T
		return none, err
	}
	slices.SortFunc(there, func(a, b T) int { return cmp.Compare(e.id(a), e.id(b)) })
	for _, one := range there[1:] {
		if gone := e.withdraw(ctx, one); !errors.Is(gone, ErrNotFound) {
			err = errors.Join(err, gone)
		}
	}
	return there[0], err
}
