package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/command"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/gateway/change"
)

// pulls signals to instances that their pull request changed: those with its number in the
// variable prNumber (story lifecycle).
type pulls struct {
	forge interface {
		forge.Reader
		forge.History
	}
	client  *client.Client
	cursors cursors
	repo    string
	now     func() time.Time
	log     *slog.Logger
	hear    string // the permission that it takes to be heard
	grammar command.Grammar

	permissions *permissions
	refused     *prometheus.CounterVec // nil: nothing is counted

	turn  sync.Mutex          // held by a poll and by look
	known map[string]tracked  // open instances by id
	heads map[int]change.Head // of tracked pull requests, by number
}

// tracked is the pull request of an instance as of a commit.
type tracked struct {
	seq  uint64
	pull int // 0: it has none, or in another repository
}

func (p *pulls) about() (string, *slog.Logger) { return p.repo, p.log }

// margin is how long before the first poll a change may be to be handled: clocks differ.
// The owner of an instance finds earlier changes by itself.
const margin = time.Hour

// poll handles every pull request that changed since the cursor. One request lists them
// all, and costs nothing while nothing changes.
func (p *pulls) poll(ctx context.Context) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	at, err := p.cursors.load(ctx, p.repo+"/pulls")
	if err != nil {
		return err
	}
	since := at.from()
	if since.IsZero() {
		since = p.now().Add(-margin).Truncate(margin) // the same list for an hour: unchanged, it is free
	}
	rows, err := p.forge.PullRequests(ctx, p.repo, since)
	if err != nil {
		return err
	}
	next := at.clone()
	var changed []forge.PullRequest
	for _, pr := range rows {
		next.advance(pr.UpdatedAt)
		if was, taken := at.Taken[int64(pr.Number)]; !taken || !was.Equal(pr.UpdatedAt) {
			changed = append(changed, pr)
		}
		next.noteComment(int64(pr.Number), pr.UpdatedAt)
	}
	if len(changed) > 0 {
		if err := p.readTracked(ctx); err != nil {
			return err
		}
	}
	for _, pr := range changed {
		if err := p.changed(ctx, pr); err != nil {
			return err
		}
		_, shut := next.Shut[pr.Number]
		switch {
		case pr.State != "open" && !pr.Merged:
			next.shut(pr.Number, pr.UpdatedAt)
		case shut && pr.State == "open":
			if err := p.reopened(ctx, pr.Number); err != nil {
				return err
			}
			delete(next.Shut, pr.Number)
		}
	}
	if next.prune(); next.equal(at) {
		return nil
	}
	return p.cursors.save(ctx, p.repo+"/pulls", next)
}

// readTracked reads the pull requests of the instances that changed.
func (p *pulls) readTracked(ctx context.Context) error {
	open, err := p.client.List(ctx, &pb.ListRequest{})
	if err != nil {
		return err
	}
	known := make(map[string]tracked, len(open))
	for _, line := range open {
		one, ok := p.known[line.GetInstance()]
		if !ok || one.seq != line.GetSeq() {
			if one, err = p.readOne(ctx, line.GetInstance()); err != nil {
				return err
			}
		}
		known[line.GetInstance()] = one
	}
	p.known = known
	return nil
}

func (p *pulls) readOne(ctx context.Context, id string) (tracked, error) {
	in, err := find(ctx, p.client, id)
	if err != nil || in == nil {
		return tracked{}, err
	}
	one := tracked{seq: in.GetSeq()}
	if in.GetIssue().GetRepo() == p.repo {
		one.pull, _ = strconv.Atoi(in.GetVars()["prNumber"])
	}
	return one, nil
}

// changed signals the instances of a pull request. The command's id follows from the
// change, so a repetition has no effect.
func (p *pulls) changed(ctx context.Context, pr forge.PullRequest) error {
	for id, one := range p.known {
		if one.pull != pr.Number {
			continue
		}
		p.note(pr)
		if _, err := send(ctx, p.client, p.log, change.Pull{Repo: p.repo, Pull: pr, Instance: id}); err != nil {
			return err
		}
		if err := p.forwardComments(ctx, id, pr); err != nil {
			return err
		}
	}
	return nil
}

// forwardComments sends the comments on the pull request to an instance that waits for
// people because of an escalation.
func (p *pulls) forwardComments(ctx context.Context, id string, pr forge.PullRequest) error {
	in, err := p.client.Get(ctx, id)
	if err != nil {
		return dropRefusal(p.log, id, err)
	}
	since, held := change.WaitingSince(in)
	if !held {
		return nil
	}
	self, err := p.forge.Self(ctx)
	if err != nil {
		return err
	}
	comments, err := p.forge.Comments(ctx, p.repo, pr.Number, since)
	if err != nil {
		return err
	}
	for _, c := range comments {
		if c.Author.Bot || c.Author.Login == self || c.CreatedAt.Before(since) {
			continue
		}
		edited := c.UpdatedAt.After(c.CreatedAt)
		permission, known, err := p.permissions.ofWords(ctx, c.Author.Login, c.NodeID, edited)
		if err != nil {
			return err
		}
		if !known || !reaches(permission, p.hear) {
			if edited {
				p.refuseEdit(c, permission)
			}
			continue
		}
		var ok bool
		if c.Body, ok = change.WithoutCommands(p.grammar, c.Body); !ok || rules.Remark(c.Body, self) {
			continue
		}
		seen := change.Comment{Comment: c, Instance: id, Permission: permission, Counts: true}
		if _, err := send(ctx, p.client, p.log, seen); err != nil {
			return err
		}
	}
	return nil
}

// refuseEdit counts and logs an edited comment that is not taken.
func (p *pulls) refuseEdit(c forge.Comment, permission string) {
	const what = "edited comment"
	if p.refused != nil {
		p.refused.WithLabelValues(p.repo, what).Inc()
	}
	p.log.Info("not taken", "what", what, "who", c.Author.Login, "why",
		fmt.Sprintf("%s: %s, or who edited it, has the permission %s or is not known, and comments need %s", c.URL, c.Author.Login, permission, p.hear))
}

// learn signals facts to the instances whose pull requests they are of. It asks the forge
// for what it does not know of pull requests that are tracked, and for nothing else.
func (p *pulls) learn(ctx context.Context, facts []change.Fact) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	if err := p.readTracked(ctx); err != nil {
		return err
	}
	tracked := map[int]bool{}
	for _, one := range p.known {
		tracked[one.pull] = one.pull > 0
	}
	maps.DeleteFunc(p.heads, func(number int, _ change.Head) bool { return !tracked[number] })
	read := map[int]bool{}
	var errs error
	for _, f := range facts {
		for _, number := range slices.Sorted(maps.Keys(tracked)) {
			if number > 0 {
				errs = errors.Join(errs, p.signalFact(ctx, f, number, read))
			}
		}
	}
	return errs
}

// signalFact signals the fact to the instances of the pull request, if it is of that.
func (p *pulls) signalFact(ctx context.Context, f change.Fact, number int, read map[int]bool) error {
	of, err := p.concerns(ctx, f, number, read)
	if err != nil || !of || f.ID == "" {
		return err
	}
	if f.App != "" {
		if self, err := p.forge.Self(ctx); err != nil || self == f.App+"[bot]" {
			return err
		}
	}
	for id, one := range p.known {
		if one.pull != number {
			continue
		}
		seen := change.Known{Fact: f, Repo: p.repo, Number: number, URL: p.heads[number].URL, Instance: id}
		if _, err := send(ctx, p.client, p.log, seen); err != nil {
			return err
		}
	}
	return nil
}

// concerns reports whether a fact is of the pull request. It reads that at most once, and
// only if what is known of it does not answer.
func (p *pulls) concerns(ctx context.Context, f change.Fact, number int, read map[int]bool) (bool, error) {
	for {
		h, known := p.heads[number]
		if concerns, sure := f.Concerns(number, h, known); sure || read[number] { // the latter: of a commit that is not its newest any more
			return concerns, nil
		}
		read[number] = true
		pr, err := p.forge.PullRequest(ctx, p.repo, number)
		if errors.Is(err, forge.ErrNotFound) {
			return false, nil
		}
		if err == nil {
			err = p.changed(ctx, pr)
		}
		if err != nil {
			return false, err
		}
	}
}

// note keeps what facts are held against.
func (p *pulls) note(pr forge.PullRequest) {
	if p.heads == nil {
		p.heads = map[int]change.Head{}
	}
	h := change.Head{SHA: pr.HeadSHA, Base: pr.BaseRef, URL: pr.URL}
	if strings.EqualFold(pr.HeadRepo, p.repo) {
		h.Ref = pr.HeadRef
	}
	p.heads[pr.Number] = h
}

// reopened starts the instances again that ended because the pull request was closed, if it
// is open now.
func (p *pulls) reopened(ctx context.Context, number int) error {
	all, err := p.client.List(ctx, &pb.ListRequest{All: true})
	if err != nil {
		return err
	}
	open := false
	for _, line := range all {
		if line.GetClosed() != string(instance.Ended) {
			continue
		}
		in, err := p.client.Get(ctx, line.GetInstance())
		if err := dropRefusal(p.log, line.GetInstance(), err); err != nil {
			return err
		}
		seen := change.PullReopened{Repo: p.repo, Number: number, In: in}
		if len(seen.Commands()) == 0 {
			continue
		}
		if !open { // read only if it matters
			now, err := p.forge.PullRequest(ctx, p.repo, number)
			if errors.Is(err, forge.ErrNotFound) || err == nil && now.State != "open" {
				return nil
			} else if err != nil {
				return err
			}
			open = true
		}
		replies, err := send(ctx, p.client, p.log, seen)
		if err != nil {
			return err
		}
		for _, r := range replies {
			p.log.Info("starts again, since its pull request was opened again", "instance", line.GetInstance(), "state", r.GetInstance().GetState())
		}
	}
	return nil
}

// lookAtPull handles what a poll would, for one pull request now.
func (p *pulls) lookAtPull(ctx context.Context, number int) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	if err := p.readTracked(ctx); err != nil {
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
	return p.changed(ctx, pr)
}

// openAgain starts again what ended because the pull request was closed.
func (p *pulls) openAgain(ctx context.Context, number int) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	return p.reopened(ctx, number)
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

// instanceOf returns the instance of a pull request. It is the open one that has its number, else
// the one that it was opened for, and "" if it is neither's.
func (p *pulls) instanceOf(ctx context.Context, number int) (id string, err error) {
	p.turn.Lock()
	defer p.turn.Unlock()
	if err := p.readTracked(ctx); err != nil {
		return "", err
	}
	for id, one := range p.known {
		if one.pull == number {
			return id, nil
		}
	}
	pr, err := p.forge.PullRequest(ctx, p.repo, number)
	if errors.Is(err, forge.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	self, err := p.forge.Self(ctx)
	if id, _, ok := rules.FindMarker(pr.Body); ok && err == nil && pr.Author.Login == self {
		return id, nil
	}
	return "", err
}
