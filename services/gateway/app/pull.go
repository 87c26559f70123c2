package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
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
		if err := p.refresh(ctx); err != nil {
			return err
		}
	}
	for _, pr := range changed {
		if err := p.signal(ctx, pr); err != nil {
			return err
		}
		_, shut := next.Shut[pr.Number]
		switch {
		case pr.State != "open" && !pr.Merged:
			next.shut(pr.Number, pr.UpdatedAt)
		case shut && pr.State == "open":
			if err := p.reopen(ctx, pr.Number); err != nil {
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

// refresh reads the pull requests of the instances that changed.
func (p *pulls) refresh(ctx context.Context) error {
	open, err := p.client.List(ctx, &pb.ListRequest{})
	if err != nil {
		return err
	}
	known := make(map[string]tracked, len(open))
	for _, line := range open {
		one, ok := p.known[line.GetInstance()]
		if !ok || one.seq != line.GetSeq() {
			if one, err = p.read(ctx, line.GetInstance()); err != nil {
				return err
			}
		}
		known[line.GetInstance()] = one
	}
	p.known = known
	return nil
}

func (p *pulls) read(ctx context.Context, id string) (tracked, error) {
	in, err := p.client.Get(ctx, id)
	if no := new(instance.Refusal); errors.As(err, &no) {
		return tracked{}, nil
	}
	if err != nil {
		return tracked{}, err
	}
	one := tracked{seq: in.GetSeq()}
	if in.GetIssue().GetRepo() == p.repo {
		one.pull, _ = strconv.Atoi(in.GetVars()["prNumber"])
	}
	return one, nil
}

// signal signals the instances of a pull request. The command's id follows from the
// change, so a repetition has no effect.
func (p *pulls) signal(ctx context.Context, pr forge.PullRequest) error {
	for id, one := range p.known {
		if one.pull != pr.Number {
			continue
		}
		p.note(pr)
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%d", id, p.repo, pr.Number, pr.UpdatedAt.UnixNano()))
		_, err := p.client.Signal(ctx, id, "changed", "pull/"+hex.EncodeToString(sum[:16]), "gateway", map[string]string{
			"pull_request": strconv.Itoa(pr.Number), "url": pr.URL, "updated_at": pr.UpdatedAt.UTC().Format(time.RFC3339),
		})
		if err := p.dropRefusal(id, err); err != nil {
			return err
		}
		if err := p.forwardComments(ctx, id, pr); err != nil {
			return err
		}
	}
	return nil
}

// dropRefusal drops a refusal that a repetition would not change.
func (p *pulls) dropRefusal(id string, err error) error {
	if no := new(instance.Refusal); errors.As(err, &no) {
		p.log.Warn("refused", "instance", id, "error", err)
		return nil
	}
	return err
}

// forwardComments sends the comments on the pull request to an instance that waits for
// people because of an escalation.
func (p *pulls) forwardComments(ctx context.Context, id string, pr forge.PullRequest) error {
	in, err := p.client.Get(ctx, id)
	if err != nil {
		return p.dropRefusal(id, err)
	}
	since, held := waitingSince(in)
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
				p.refuse(c, permission)
			}
			continue
		}
		var ok bool
		if c.Body, ok = spoken(p.grammar, c.Body); !ok || rules.Remark(c.Body, self) {
			continue
		}
		_, err = p.client.Signal(ctx, id, "commented", commentCommand(c, id), c.Author.Login, map[string]string{
			"body": c.Body, "url": c.URL, "permission": permission,
		})
		if err := p.dropRefusal(id, err); err != nil {
			return err
		}
	}
	return nil
}

// refuse counts and logs an edited comment that is not taken.
func (p *pulls) refuse(c forge.Comment, permission string) {
	const what = "edited comment"
	if p.refused != nil {
		p.refused.WithLabelValues(p.repo, what).Inc()
	}
	p.log.Info("not taken", "what", what, "who", c.Author.Login, "why",
		fmt.Sprintf("%s: %s, or who edited it, has the permission %s or is not known, and being heard takes %s", c.URL, c.Author.Login, permission, p.hear))
}

// waitingSince returns since when an instance waits for people, in whole seconds as a
// forge counts. held is false if it does not wait.
func waitingSince(in *pb.Instance) (since time.Time, held bool) {
	for _, e := range in.GetEscalations() {
		at := e.GetAt().AsTime().Truncate(time.Second)
		if e.GetRequiresHuman() && !e.GetResolved() && (!held || at.Before(since)) {
			since, held = at, true
		}
	}
	return since, held
}

// commentCommand returns the id of the command that sends a comment to an instance that is
// not named after its issue.
func commentCommand(c forge.Comment, id string) string {
	sum := sha256.Sum256([]byte(id))
	return fmt.Sprintf("comment/%d/%s", c.ID, hex.EncodeToString(sum[:8]))
}
