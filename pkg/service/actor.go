package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oklog/run"
)

// actors are functions that run together. The first to return stops all. The base
// actors are stopped after the others have ended.
type actors struct {
	list []actor

	mu      sync.Mutex
	running map[int]string // names by index in list
	above   int            // running actors that are no base
	errs    []error
}

type actor struct {
	name string
	run  func(context.Context) error
	base bool // stopped when all others have ended
}

const (
	defaultGrace = 30 * time.Second
	// graceMargin lets an actor that used all of its grace report that.
	graceMargin = 5 * time.Second
)

func (a *actors) add(name string, run func(context.Context) error) {
	a.list = append(a.list, actor{name: name, run: run})
}

func (a *actors) addBase(name string, run func(context.Context) error) {
	a.list = append(a.list, actor{name: name, run: run, base: true})
}

func (a *actors) has(name string) bool {
	return slices.ContainsFunc(a.list, func(one actor) bool { return one.name == name })
}

// run returns the joined errors of all actors when all have ended, or ErrGrace with
// the names of those that run when grace is over. stop ends ctx.
func (a *actors) run(ctx context.Context, stop context.CancelFunc, grace time.Duration) error {
	a.running = map[int]string{}
	for i, actor := range a.list {
		a.running[i] = actor.name
		if !actor.base {
			a.above++
		}
	}
	base, stopBase := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBase()
	if a.above == 0 { // there are base actors only
		defer context.AfterFunc(ctx, stopBase)()
	}
	var g run.Group
	for i, actor := range a.list {
		g.Add(func() error {
			own := ctx
			if actor.base {
				own = base
			}
			if a.ended(own, i, actor.run(own)) {
				stopBase()
			}
			return nil
		}, func(error) { stop() })
	}
	done := make(chan struct{})
	go func() {
		_ = g.Run() // it has the first error only; errs has all
		close(done)
	}()

	select {
	case <-done:
		return a.result(nil)
	case <-ctx.Done():
	}
	select {
	case <-done:
		return a.result(nil)
	case <-time.After(cmp.Or(grace, defaultGrace) + graceMargin):
		return a.result(ErrGrace)
	}
}

// ended records the end of an actor and reports whether only base actors run.
func (a *actors) ended(ctx context.Context, i int, err error) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.running, i)
	if unlessStopped(ctx, err) != nil {
		a.errs = append(a.errs, fmt.Errorf("%s: %w", a.list[i].name, err))
	}
	if !a.list[i].base {
		a.above--
	}
	return a.above == 0
}

func (a *actors) result(err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		left := slices.Sorted(maps.Values(a.running))
		a.errs = append(a.errs, fmt.Errorf("%s: %w", strings.Join(left, ", "), err))
	}
	return errors.Join(a.errs...)
}
