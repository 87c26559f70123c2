package app

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/services/gateway/change"
)

// look handles what a poll would, for one issue now. It moves no cursor: the next poll
// finds the same again, and its commands have the same ids. Comments are read since the
// time, zero: since the cursor.
func (p *poller) look(ctx context.Context, issue forge.Issue, since time.Time) error {
	p.turn.RLock()
	defer p.turn.RUnlock()
	at, err := p.cursors.load(ctx, p.repo)
	if err != nil {
		return err
	}
	if !p.begun(at) {
		return nil // the first poll says what was open before; it is under way
	}
	from, next := at, at.clone()
	if !since.IsZero() {
		from.Since = since
	}
	from.Taken = p.known(at.Taken)
	err = p.row(ctx, issue, from, &next)
	p.remember(at.Taken, next.Taken)
	if err != nil || maps.EqualFunc(at.Spent, next.Spent, sameTimes) {
		return err
	}
	return p.saveSpent(ctx, at, next)
}

// maxRecent is how many comments look remembers. A command that is repeated after it has
// forgotten one has no effect.
const maxRecent = 1000

// known returns the comments that were taken, by a poll or by a look of late.
func (p *poller) known(taken map[int64]time.Time) map[int64]time.Time {
	p.saving.Lock()
	defer p.saving.Unlock()
	all := maps.Clone(taken)
	if all == nil {
		all = map[int64]time.Time{}
	}
	for _, id := range p.recent {
		all[id] = time.Time{}
	}
	return all
}

// remember notes the comments that a look has handled, also where it failed afterwards.
func (p *poller) remember(before, after map[int64]time.Time) {
	p.saving.Lock()
	defer p.saving.Unlock()
	for id := range after {
		if _, ok := before[id]; !ok {
			p.recent = append(p.recent, id)
		}
	}
	p.recent = p.recent[max(0, len(p.recent)-maxRecent):]
}

// begun reports whether there was a first poll, or none is needed.
func (p *poller) begun(c cursor) bool { return c.Begun || !c.Since.IsZero() || p.all || p.label != "" }

// saveSpent adds to the cursor what a look took of people without write permission.
func (p *poller) saveSpent(ctx context.Context, before, after cursor) error {
	p.saving.Lock()
	defer p.saving.Unlock()
	at, err := p.cursors.load(ctx, p.repo)
	if err != nil {
		return err
	}
	next := at.clone()
	for key, times := range after.Spent {
		if more := len(times) - len(before.Spent[key]); more > 0 {
			if next.Spent == nil {
				next.Spent = map[string][]time.Time{}
			}
			next.Spent[key] = append(next.Spent[key], times[len(times)-more:]...)
		}
	}
	maps.Copy(next.Taken, after.Taken)
	return p.cursors.save(ctx, p.repo, next)
}

// look handles what a poll would, for one closed issue now.
func (p *closings) look(ctx context.Context, issue forge.Issue) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	at, err := p.cursors.load(ctx, p.repo+"/closed")
	if err != nil {
		return err
	}
	next := at.clone()
	if err := p.row(ctx, issue, at, &next); err != nil || next.equal(at) {
		return err
	}
	return p.cursors.save(ctx, p.repo+"/closed", next)
}

// look handles what a poll would, for one pull request now.
func (p *pulls) look(ctx context.Context, number int) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	if err := p.refresh(ctx); err != nil {
		return err
	}
	if !p.tracks(number) {
		return nil // nobody listens: it is not even read
	}
	pr, err := p.forge.PullRequest(ctx, p.repo, number)
	if errors.Is(err, forge.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return p.signal(ctx, pr)
}

// reopened starts again what ended because the pull request was closed.
func (p *pulls) reopened(ctx context.Context, number int) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	return p.reopen(ctx, number)
}

// tracks reports whether the pull request is an open instance's.
func (p *pulls) tracks(number int) bool {
	for _, one := range p.known {
		if one.pull == number {
			return true
		}
	}
	return false
}

// repository is all that watches one repository.
type repository struct {
	issues *poller
	closed *closings
	pulls  *pulls
	obeys  *commander
}

// look handles what changed of an issue or a pull request, and the commands in what was
// said on it. A person waits for it.
func (r repository) look(ctx context.Context, i change.Item, since time.Time, commands bool) error {
	ctx = forge.WithUrgency(ctx, forge.Urgent)
	err := r.change(ctx, i, since)
	if commands && r.obeys != nil {
		err = errors.Join(err, r.obeys.look(ctx, i.Number, since))
	}
	return err
}

// facts handles facts that no issue or pull request shows.
func (r repository) facts(ctx context.Context, facts []change.Fact) error {
	return r.pulls.learn(forge.WithUrgency(ctx, forge.Urgent), facts)
}

// change handles what changed of an issue or a pull request.
func (r repository) change(ctx context.Context, i change.Item, since time.Time) error {
	if i.Pull {
		err := r.pulls.look(ctx, i.Number)
		if i.Reopened {
			err = errors.Join(err, r.pulls.reopened(ctx, i.Number))
		}
		return errors.Join(err, r.issues.follow(ctx))
	}
	issue, err := r.issues.reader.Issue(ctx, r.issues.repo, i.Number)
	switch {
	case errors.Is(err, forge.ErrNotFound) && i.Gone:
		return r.closed.gone(ctx, i.Number)
	case errors.Is(err, forge.ErrNotFound):
		return nil // it may be hidden only
	case err != nil:
		return err
	}
	if issue.State == "closed" {
		return errors.Join(r.closed.look(ctx, issue), r.issues.follow(ctx))
	}
	return r.issues.look(ctx, issue, since)
}
