package forge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// effect is something on the forge that is to be there once, which no forge
// promises: two who look at the same time both find nothing, and a list may be
// older than what was made last.
type effect[T any] struct {
	look     func(context.Context) ([]T, error) // all there are of it
	make     func(context.Context) (T, error)
	withdraw func(context.Context, T) error
	id       func(T) int64 // a later one's is higher
}

// patience is how long a list may take to show what was made.
const patience = 5 * time.Second

// once makes what is not there, and sees that it is there once: whoever made it
// reads back, and withdraws all but the oldest. So do others, who do the same.
// Made under a claim that ended meanwhile, it is read back all the same: whoever
// has the claim now may have looked before.
func (e effect[T]) once(ctx context.Context) (T, error) {
	there, err := e.look(ctx)
	if err != nil || len(there) > 0 {
		return e.only(ctx, there, err)
	}
	made, err := e.make(ctx)
	if err != nil && ctx.Err() == nil {
		return made, err // if it is there, whoever tries again finds it
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*patience)
	defer cancel()
	there = e.seen(after, func(one T) bool { return err != nil || e.id(one) == e.id(made) })
	if err == nil && !slices.ContainsFunc(there, func(one T) bool { return e.id(one) == e.id(made) }) {
		there = append(there, made)
	}
	return e.only(after, there, err)
}

// seen looks until what was made is there, or patience is at its end.
func (e effect[T]) seen(ctx context.Context, made func(T) bool) (there []T) {
	start, pause := time.Now(), 50*time.Millisecond
	for {
		found, err := e.look(ctx)
		if err == nil {
			there = found
		}
		if slices.ContainsFunc(there, made) || time.Since(start) > patience {
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

// only keeps the oldest. err is what went wrong so far.
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
