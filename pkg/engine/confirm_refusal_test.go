package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// shortLog is a log as a server tells it that has not heard of the newest commits.
type shortLog struct {
	eventstore.Store
	end uint64
}

func (p *shortLog) Head(context.Context) (uint64, error) { return p.end, nil }

func (p *shortLog) Last(ctx context.Context, id string) (eventstore.Commit, error) {
	commits, err := p.Load(ctx, id)
	if err != nil {
		return eventstore.Commit{}, err
	}
	return commits[len(commits)-1], nil
}

func (p *shortLog) Load(ctx context.Context, id string) ([]eventstore.Commit, error) {
	commits, err := p.Store.Load(ctx, id)
	for len(commits) > 0 && commits[len(commits)-1].Seq > p.end {
		commits = commits[:len(commits)-1]
	}
	if err == nil && len(commits) == 0 {
		err = eventstore.ErrUnknown
	}
	return commits, err
}

func (p *shortLog) Since(ctx context.Context, id string, after uint64) ([]eventstore.Commit, error) {
	commits, err := p.Store.Since(ctx, id, after)
	for len(commits) > 0 && commits[len(commits)-1].Seq > p.end {
		commits = commits[:len(commits)-1]
	}
	return commits, err
}

func TestNoWorkIsCalledPastByALogThatDoesNotHaveItYet(t *testing.T) {
	w := newEnv(t)
	ahead := w.engine()
	old := w.do(ahead, "old", open("a chore")).Instance
	fresh := w.do(ahead, "new", open("a chore")).Instance
	claimed := w.do(ahead, "old", take("worker", old.Work)).Instance
	checked := w.do(ahead, "old", done(claimed.Claim.Token)).Instance

	cut := &shortLog{w.store, old.Seq}
	w.store = cut
	behind := w.engine()
	for id, claim := range map[string]instance.Command{
		"an instance it does not know": cmd("n", "new", take("worker", fresh.Work)),
		"an instance that went on":     cmd("o", "old", take("judge", checked.Work)),
	} {
		var refusal *instance.Refusal
		if _, err := behind.Handle(t.Context(), claim, ""); !errors.Is(err, engine.ErrBehind) || errors.As(err, &refusal) {
			t.Errorf("%s: %v, want ErrBehind", id, err)
		}
	}
	cut.end = 1 << 40
	away := errors.New("the log is away")
	looks := 0
	w.store = &faulty{Store: cut, last: func(ctx context.Context, id string) (eventstore.Commit, error) {
		if looks++; looks > 1 {
			return eventstore.Commit{}, away
		}
		return cut.Last(ctx, id)
	}}
	unsure := cmd("u", "old", take("judge", 1<<30))
	if _, err := w.engine().Handle(t.Context(), unsure, ""); looks != 2 || !errors.Is(err, away) || errors.As(err, new(*instance.Refusal)) {
		t.Errorf("a refusal that cannot be checked is answered %v after %d looks, want no refusal", err, looks)
	}
	w.do(behind, "new", take("worker", fresh.Work))
	w.do(behind, "old", take("judge", checked.Work))
	w.refused(behind, cmd("p", "old", take("worker", old.Work)), instance.CodeNotOwner)
}
