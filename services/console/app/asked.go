package app

import (
	"context"
	"sync"
	"time"
)

// asked is a reply of the orchestrator that many viewers share: it is asked for at most once in sharedFor. It is safe for
// concurrent use.
type asked[T any] struct {
	mu    sync.Mutex
	at    time.Time
	reply T
	err   error
}

const sharedFor = time.Second

// get returns the last reply, or, if that is old, a new one. A viewer that comes while it is asked for waits for it.
func (a *asked[T]) get(ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Since(a.at) < sharedFor {
		return a.reply, a.err
	}
	// The reply is for all who wait: one who leaves does not end it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	a.reply, a.err = ask(ctx)
	a.at = time.Now()
	return a.reply, a.err
}

// asks are replies by what was asked for. They are safe for concurrent use.
type asks[T any] struct {
	mu  sync.Mutex
	all map[string]*asked[T]
}

// of returns the reply to a question. Few are kept.
func (a *asks[T]) of(question string) *asked[T] {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = map[string]*asked[T]{}
	}
	if a.all[question] == nil {
		bound(a.all, maxStory)
		a.all[question] = &asked[T]{}
	}
	return a.all[question]
}
