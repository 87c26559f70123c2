package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/gateway/change"
)

// maxFollowed is how many issues are read to find out whether issues wait for each other.
const maxFollowed = 50

// depend pauses the instance of an issue while an issue that it waits for is open, and
// resumes it after that. It pauses for the same issues once: work that a person resumes
// goes on. A comment lists the names that hold nothing.
func (p *poller) depend(ctx context.Context, issue forge.Issue) error {
	names := waitsOn(p.repo, issue.Body)
	if p.held(issue) || len(names) == 0 && issue.Blocked == 0 && !p.isWaiting(issue.Number) {
		return nil
	}
	name := Name(p.repo, issue.Number)
	in, err := p.client.Get(ctx, name)
	if err != nil || in.GetClosed() != "" {
		p.wait(issue.Number, false)
		return dropRefusal(p.log, name, err)
	}
	open, unheeded, err := p.blockers(ctx, issue, names)
	if err != nil {
		return err
	}
	p.tellUnheeded(ctx, issue.Number, name, unheeded)
	seen := change.Blocked{Issue: issue, In: in, By: open}
	replies, err := send(ctx, p.client, p.log, seen)
	ours := seen.Waits()
	if !in.GetPaused() {
		ours = len(replies) > 0 && !replies[0].GetDuplicate()
	}
	p.wait(issue.Number, ours && len(open) > 0)
	return err
}

// blockers returns the open issues that an issue waits for, and what it names that holds
// nothing, each with the reason.
func (p *poller) blockers(ctx context.Context, issue forge.Issue, names []reference) (open, unheeded []string, err error) {
	not := func(of, why string) { unheeded = append(unheeded, of+": "+why) }
	add := func(on forge.Issue) error {
		text := fmt.Sprintf("#%d", on.Number)
		if on.Repo != p.repo {
			text = "an issue of another repository"
		} else if circle, err := p.reaches(ctx, on, issue.Number); err != nil {
			return err
		} else if circle {
			not(text, "it waits for this issue, too")
			return nil
		}
		if !slices.Contains(open, text) {
			open = append(open, text)
		}
		return nil
	}
	for _, of := range names {
		text := fmt.Sprintf("%s#%d", of.repo, of.number)
		if of.repo != "" {
			not(text, "it is of another repository")
			continue
		}
		if of.number == issue.Number {
			not(text, "it is this issue itself")
			continue
		}
		on, err := p.issueOrPull(ctx, of.number)
		if errors.Is(err, forge.ErrNotFound) {
			not(text, "this repository has no such issue")
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if on.State == "open" {
			if err := add(on); err != nil {
				return nil, nil, err
			}
		}
	}
	related, err := p.related(ctx, issue)
	if err != nil {
		return nil, nil, err
	}
	for _, on := range related {
		if on.State == "open" {
			if err := add(on); err != nil {
				return nil, nil, err
			}
		}
	}
	return open, unheeded, nil
}

// related returns the issues that the forge has down as blocking an issue.
func (p *poller) related(ctx context.Context, issue forge.Issue) ([]forge.Issue, error) {
	depending, ok := p.reader.(forge.Depending)
	if !ok || issue.Blocked == 0 {
		return nil, nil
	}
	all, err := depending.BlockedBy(ctx, p.repo, issue.Number)
	if errors.Is(err, forge.ErrNotFound) || errors.Is(err, forge.ErrDenied) {
		p.log.Warn("the issues that block an issue cannot be read: they hold nothing", "instance", Name(p.repo, issue.Number), "error", err)
		return nil, nil
	}
	return all, err
}

// issueOrPull reads an issue, or a pull request as one.
func (p *poller) issueOrPull(ctx context.Context, number int) (forge.Issue, error) {
	issue, err := p.reader.Issue(ctx, p.repo, number)
	if errors.Is(err, forge.ErrNotFound) {
		pr, err := p.reader.PullRequest(ctx, p.repo, number)
		return forge.Issue{Repo: p.repo, Number: number, State: pr.State}, err
	}
	return issue, err
}

// reaches reports whether an issue waits, itself or by those that it waits for, for the
// issue of a number.
func (p *poller) reaches(ctx context.Context, from forge.Issue, number int) (bool, error) {
	seen, next := map[int]bool{from.Number: true}, []forge.Issue{from}
	for len(next) > 0 {
		at := next[0]
		next = next[1:]
		on, err := p.related(ctx, at)
		if err != nil {
			return false, err
		}
		for _, of := range waitsOn(p.repo, at.Body) {
			if of.repo == "" {
				on = append(on, forge.Issue{Repo: p.repo, Number: of.number})
			}
		}
		for _, one := range on {
			if one.Repo == p.repo && one.Number == number {
				return true, nil
			}
			if one.Repo != p.repo || seen[one.Number] || len(seen) >= maxFollowed {
				continue
			}
			seen[one.Number] = true
			read, err := p.reader.Issue(ctx, p.repo, one.Number)
			if err != nil && !errors.Is(err, forge.ErrNotFound) {
				return false, err
			}
			if err == nil && read.State == "open" {
				next = append(next, read)
			}
		}
	}
	return false, nil
}

// tellUnheeded has the PM comment on names that hold nothing, once for the same names.
func (p *poller) tellUnheeded(ctx context.Context, number int, name string, unheeded []string) {
	text := strings.Join(unheeded, "\n")
	p.saving.Lock()
	known := p.unheeded[number] == text
	p.saving.Unlock()
	if known {
		return
	}
	if text != "" && p.say != nil {
		within, cancel := context.WithTimeout(ctx, tellWithin)
		defer cancel()
		sum := sha256.Sum256([]byte(text))
		err := p.say(within, forgeside.CommentRequest{Repo: p.repo, Number: number, Instance: name, Key: "unheeded-" + hex.EncodeToString(sum[:6]),
			Body: rules.Unheeded(unheeded)})
		if err != nil && !errors.Is(err, forge.ErrInvalid) {
			p.log.Info("people are not notified yet that named issues hold nothing", "instance", name, "error", err)
			return
		}
	}
	if text != "" {
		p.log.Warn("the issue names issues that do not hold its work", "instance", name, "issues", unheeded)
	}
	p.saving.Lock()
	defer p.saving.Unlock()
	if p.unheeded == nil {
		p.unheeded = map[int]string{}
	}
	p.unheeded[number] = text
}

func (p *poller) isWaiting(number int) bool {
	p.saving.Lock()
	defer p.saving.Unlock()
	return p.waiting[number]
}

// wait notes whether an issue waits for others.
func (p *poller) wait(number int, on bool) {
	p.saving.Lock()
	defer p.saving.Unlock()
	if p.waiting == nil {
		p.waiting = map[int]bool{}
	}
	if p.waiting[number] = on; !on {
		delete(p.waiting, number)
	}
}

// waits looks again at the issues that wait for others. No list of what changed names an
// issue whose blocker was closed. It is a source.
type waits struct {
	*poller
	known bool // the instances that were paused before the start are among the waiting
}

func (w *waits) about() (string, *slog.Logger) { return w.repo, w.log }

func (w *waits) poll(ctx context.Context) error {
	if !w.known {
		all, err := w.client.List(ctx, &pb.ListRequest{})
		if err != nil {
			return err
		}
		for _, line := range all {
			text, own := strings.CutPrefix(line.GetInstance(), w.repo+"/")
			number, err := strconv.Atoi(text)
			if own && err == nil && strings.HasPrefix(line.GetPausedFor(), instance.ForIssues) {
				w.wait(number, true)
			}
		}
		w.known = true
	}
	return w.follow(ctx)
}

// follow looks again at each issue that waits for others.
func (p *poller) follow(ctx context.Context) error {
	p.turn.RLock()
	defer p.turn.RUnlock()
	p.saving.Lock()
	numbers := slices.Sorted(maps.Keys(p.waiting))
	p.saving.Unlock()
	for _, number := range numbers {
		issue, err := p.reader.Issue(ctx, p.repo, number)
		switch {
		case errors.Is(err, forge.ErrNotFound):
			p.wait(number, false)
			continue
		case err == nil && issue.State == "open":
			err = p.depend(ctx, issue)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
