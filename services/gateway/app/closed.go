package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/forge"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/gateway/change"
)

// closings cancels the work on issues that people close. An issue that the work's own
// pull request closed is done, not given up.
type closings struct {
	forge interface {
		forge.Reader
		forge.History
	}
	client  *client.Client
	cursors cursors
	repo    string
	now     func() time.Time
	log     *slog.Logger

	turn sync.Mutex // held by a poll and by look
}

func (p *closings) about() (string, *slog.Logger) { return p.repo, p.log }

// poll handles every closed issue that changed since the cursor. One request lists them
// all, and costs nothing while nothing changes.
func (p *closings) poll(ctx context.Context) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	at, err := p.cursors.load(ctx, p.repo+"/closed")
	if err != nil {
		return err
	}
	since := at.from()
	if since.IsZero() {
		since = p.now().Add(-margin).Truncate(margin) // the same list for an hour: unchanged, it is free
	}
	rows, err := p.forge.Closed(ctx, p.repo, since)
	if err != nil {
		return err
	}
	next := at.clone()
	for _, issue := range rows {
		next.advance(issue.UpdatedAt)
		if err := p.closedRow(ctx, issue, at, &next); err != nil {
			return err
		}
	}
	if next.prune(); !next.equal(at) {
		if err := p.cursors.save(ctx, p.repo+"/closed", next); err != nil {
			return err
		}
	}
	return p.seek(ctx)
}

// closedRow handles one closed issue as it is now.
func (p *closings) closedRow(ctx context.Context, issue forge.Issue, at cursor, next *cursor) error {
	if was, taken := at.Taken[int64(issue.Number)]; !taken || !was.Equal(issue.UpdatedAt) {
		if err := p.end(ctx, issue.Number, fmt.Sprintf("issue #%d was closed on the forge", issue.Number)); err != nil {
			return err
		}
		next.shut(issue.Number, issue.UpdatedAt)
	}
	next.noteComment(int64(issue.Number), issue.UpdatedAt)
	return nil
}

// end cancels the instances of an issue that is closed or gone: the one named for it, and
// those that an instance of it has spawned.
func (p *closings) end(ctx context.Context, number int, why string) error {
	own := Name(p.repo, number)
	all := []string{own}
	open, err := p.client.List(ctx, &pb.ListRequest{})
	if err != nil {
		return err
	}
	for _, line := range open {
		if line.GetParent() == own {
			all = append(all, line.GetInstance())
		}
	}
	for _, id := range all {
		in, err := find(ctx, p.client, id)
		if err != nil {
			return err
		}
		seen := change.Closed{Repo: p.repo, Number: number, Why: why, In: in} // of nil, which was never taken up, too
		if len(seen.Commands()) == 0 {
			continue
		}
		if done, err := p.ownWork(ctx, in); err != nil {
			return err
		} else if done {
			p.log.Info("the work's own pull request closed the issue", "instance", id)
			continue
		}
		replies, err := send(ctx, p.client, p.log, seen)
		if err != nil {
			return err
		}
		if len(replies) > 0 {
			p.log.Info("cancelled", "instance", id, "why", why)
		}
	}
	return nil
}

// ownWork reports whether the instance's own pull request is merged: then that has
// closed the issue.
func (p *closings) ownWork(ctx context.Context, in *pb.Instance) (bool, error) {
	if number, _ := strconv.Atoi(in.GetVars()["prNumber"]); number > 0 {
		pr, err := p.forge.PullRequest(ctx, p.repo, number)
		if err == nil || errors.Is(err, forge.ErrNotFound) {
			return pr.Merged, nil
		}
		return false, err
	}
	mentions, err := p.forge.Mentions(ctx, p.repo, int(in.GetIssue().GetNumber()))
	if err != nil && !errors.Is(err, forge.ErrNotFound) {
		return false, err
	}
	for _, m := range mentions {
		if m.State != "merged" {
			continue
		}
		pr, err := p.forge.PullRequest(ctx, p.repo, m.Number)
		if err != nil && !errors.Is(err, forge.ErrNotFound) {
			return false, err
		}
		if id, _, ok := rules.FindMarker(pr.Body); ok && id == in.GetInstance() {
			return true, nil
		}
	}
	return false, nil
}

// soughtEvery is how often the issues that are worked on are looked for.
const soughtEvery = 24 * time.Hour

// gone cancels the work on an issue that there is no more: it was deleted, or transferred.
func (p *closings) gone(ctx context.Context, number int) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	return p.end(ctx, number, p.absent(number))
}

func (p *closings) absent(number int) string {
	return fmt.Sprintf("issue #%d was deleted or transferred: it is no longer in %s", number, p.repo)
}

// seek cancels, once a day, the work on issues that there are no more. No list of what
// changed tells of those.
func (p *closings) seek(ctx context.Context) error {
	at, err := p.cursors.load(ctx, p.repo+"/gone")
	if err != nil || p.now().Sub(at.Since) < soughtEvery {
		return err
	}
	all, err := p.client.List(ctx, &pb.ListRequest{})
	if err != nil {
		return err
	}
	worked := map[int]bool{}
	for _, line := range all {
		text, own := strings.CutPrefix(line.GetInstance(), p.repo+"/")
		if number, err := strconv.Atoi(text); own && err == nil {
			worked[number] = true
		}
	}
	if len(worked) > 0 {
		open, err := p.forge.Issues(ctx, p.repo, time.Time{})
		if err != nil {
			return err // the repository itself cannot be read
		}
		for _, issue := range open {
			delete(worked, issue.Number)
		}
	}
	for number := range worked {
		_, err := p.forge.Issue(ctx, p.repo, number)
		if errors.Is(err, forge.ErrNotFound) {
			err = p.end(ctx, number, p.absent(number))
		}
		if err != nil {
			return err
		}
	}
	return p.cursors.save(ctx, p.repo+"/gone", cursor{Since: p.now()})
}

// lookAtClosed handles what a poll would, for one closed issue now.
func (p *closings) lookAtClosed(ctx context.Context, issue forge.Issue) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	at, err := p.cursors.load(ctx, p.repo+"/closed")
	if err != nil {
		return err
	}
	next := at.clone()
	if err := p.closedRow(ctx, issue, at, &next); err != nil || next.equal(at) {
		return err
	}
	return p.cursors.save(ctx, p.repo+"/closed", next)
}
