package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/command"
	"github.com/signalbox/signalbox/services/gateway/change"
)

// poller turns changes on the forge into commands: a new issue opens an instance, a new
// comment of a person is a signal.
type poller struct {
	reader   forge.Reader
	client   *client.Client
	cursors  cursors
	repo     string
	workflow string
	label    string // only issues that carry it; empty: all
	all      bool   // also those that were open before the first poll
	intake   Intake
	grammar  command.Grammar        // of commands, which are neither answers nor remarks
	refused  *prometheus.CounterVec // nil: nothing is counted
	log      *slog.Logger

	permissions *permissions
	configs     *configurations // nil: repositories have none
	wrong       *tellings       // nil: no comment about a wrong configuration
	readings    readings        // of polls
	told        sync.Once

	// turn is held by a poll, and shared by what looks at single issues.
	turn sync.RWMutex
	// saving is locked while look adds to the cursor, to recent or to compared.
	saving sync.Mutex
	recent []int64 // the comments that look has handled of late
	// compared is when the issues were changed whose text was last held against their instances'.
	compared map[int]time.Time
	waiting  map[int]bool   // issues whose work waits for other issues
	unheeded map[int]string // the comments on named issues that hold nothing
	say      sayer          // nil: no comment

	// creating is locked while create creates an issue and opens its instance, so that the
	// poll does not open it first, with another lifecycle.
	creating sync.Mutex
	taken    map[int]bool // issues that have an instance: what was taken up stays so
}

// Name returns the name of the instance of an issue.
func Name(repo string, number int) string { return repo + "/" + strconv.Itoa(number) }

func (p *poller) about() (string, *slog.Logger) { return p.repo, p.log }

// poll handles all changes since the cursor. It may repeat commands of an earlier poll;
// they have the same ids, so the orchestrator carries them out once.
func (p *poller) poll(ctx context.Context) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	at, err := p.cursors.load(ctx, p.repo)
	if err != nil {
		return err
	}
	issues, err := p.reader.Issues(ctx, p.repo, at.from())
	if err != nil {
		return err
	}
	next := at.clone()
	p.begin(&next, issues)
	if p.readings == nil {
		p.readings = readings{}
	}
	at.settled = p.readings.settle(issues, p.permissions.now())
	for _, issue := range issues {
		next.advance(issue.UpdatedAt)
		if err := p.issueRow(ctx, issue, at, &next); err != nil {
			return err
		}
	}
	if next.prune(); next.equal(at) {
		return nil
	}
	return p.cursors.save(ctx, p.repo, next)
}

// issueRow handles one open issue as it is now, and the comments on it since the cursor.
func (p *poller) issueRow(ctx context.Context, issue forge.Issue, at cursor, next *cursor) error {
	if id, err := p.asksFor(ctx, issue); err != nil {
		return err
	} else if id != "" {
		return p.comments(ctx, issue, id, at.from(), at, next)
	}
	if p.label != "" && !change.HasLabel(issue, p.label) {
		return nil
	}
	since := at.from()
	opened, taken, err := p.takeUp(ctx, issue, next)
	switch {
	case err != nil || !taken:
		return err
	case opened:
		since = time.Time{} // it may have been discussed before it got its label
		if err := p.depend(ctx, issue); err != nil {
			return err
		}
	default:
		if err := errors.Join(p.reopen(ctx, issue), p.hold(ctx, issue), p.depend(ctx, issue), p.edited(ctx, issue, next)); err != nil {
			return err
		}
		if at.settled[issue.Number] {
			return nil
		}
	}
	return p.comments(ctx, issue, "", since, at, next)
}

// takeUp opens an instance for the issue, unless there is one, and reports whether it did.
// taken is false if the issue has no instance because of who reported it. It leaves an
// issue that create is creating to create.
func (p *poller) takeUp(ctx context.Context, issue forge.Issue, next *cursor) (opened, taken bool, err error) {
	p.creating.Lock()
	defer p.creating.Unlock()
	if p.taken[issue.Number] {
		return false, true, nil
	}
	defer func() {
		if err == nil && taken {
			if p.taken == nil {
				p.taken = map[int]bool{}
			}
			p.taken[issue.Number] = true
		}
	}()
	name := Name(p.repo, issue.Number)
	admitted, err := p.admit(ctx, issue)
	if err != nil {
		return false, false, err
	}
	if !instance.MayWrite(admitted.permission) {
		// An issue that was taken up stays so, whatever became of its author or its label.
		if _, err := p.client.Get(ctx, name); err == nil {
			return false, true, nil
		}
	}
	if p.held(issue) {
		in, err := find(ctx, p.client, name)
		if err == nil && in == nil {
			p.refuse("held", issue.Author.Login, name+": it has the label "+p.intake.Hold)
		}
		return false, in != nil, err
	}
	if admitted.refused == "" && p.isOld(*next, issue) {
		_, err := p.client.Get(ctx, name)
		return false, err == nil, nil
	}
	if admitted.refused != "" {
		p.refuse("issue", issue.Author.Login, name+": "+admitted.refused)
		return false, false, nil
	}
	config, err := p.configs.current(ctx)
	if err != nil {
		return false, false, err
	}
	if why := config.refuses(issue); why != "" {
		_, err := p.client.Get(ctx, name)
		if err != nil && config.never {
			p.refuse("configuration", issue.Author.Login, name+": "+why)
		}
		return false, err == nil, nil
	}
	if !p.spend(next, "issue", issue.Author.Login, admitted.permission) {
		return false, false, nil
	}
	workflow, err := p.workflowOf(ctx, issue, cmp.Or(config.Lifecycle, p.workflow))
	if err != nil {
		return false, false, err
	}
	opened, err = p.open(ctx, issue, workflow, admitted, config)
	if errors.Is(err, &instance.Refusal{Code: instance.CodeExists}) {
		return false, true, nil
	}
	return opened, true, dropRefusal(p.log, name, err)
}

// open opens the issue's instance. It returns false if there was one.
func (p *poller) open(ctx context.Context, issue forge.Issue, workflow string, by admission, config inForce) (opened bool, err error) {
	name := Name(p.repo, issue.Number)
	reply, err := p.client.Open(ctx, "open/"+issue.NodeID, workflow, name, instance.Issue{
		Repo: p.repo, Number: issue.Number, Title: issue.Title, Body: issue.Body, Labels: issue.Labels, Author: issue.Author.Login,
		URL:        issue.URL,
		Permission: by.permission, AdmittedBy: by.by, Config: config.forInstance(config.problem),
	})
	if err != nil || reply.GetDuplicate() {
		return false, err
	}
	if config.problem != "" {
		p.tell(ctx, issue.Number, name, config)
	}
	p.log.Info("issue taken up", "instance", name, "title", issue.Title, "author", issue.Author.Login, "permission", by.permission,
		"admitted_by", by.by)
	return true, nil
}

// edited handles the present title and text of an issue, unless the instance knows them.
func (p *poller) edited(ctx context.Context, issue forge.Issue, next *cursor) error {
	if p.wasCompared(issue) {
		return nil
	}
	name := Name(p.repo, issue.Number)
	in, err := p.client.Get(ctx, name)
	if err != nil {
		return dropRefusal(p.log, name, err)
	}
	e := change.Edited{Issue: issue, In: in}
	if e.IsNew() {
		e.Permission, e.Counts, err = p.heard(ctx, issue, issue.Author.Login, issue.NodeID, true)
		if err == nil && e.Counts {
			e.Permission, e.Counts, err = p.titled(ctx, issue, e.Permission)
		}
		if err == nil && (e.Counts || p.spend(next, "remark", issue.Author.Login, e.Permission)) {
			if !e.Counts {
				p.refuse("edit", issue.Author.Login, fmt.Sprintf("%s: %s, or who edited it, has the permission %s or is not known, and comments need %s", name,
					issue.Author.Login, e.Permission, p.intake.Hear))
			}
			_, err = send(ctx, p.client, p.log, e)
		}
	}
	if err == nil {
		p.compare(issue)
	}
	return err
}

// titled reports whether words that count with a permission do so with a title that another may
// have given the issue, and with which permission.
func (p *poller) titled(ctx context.Context, issue forge.Issue, permission string) (least string, counts bool, err error) {
	who, known, err := p.permissions.renamer(ctx, issue.Number)
	if err != nil || !known || who == "" || who == issue.Author.Login {
		return permission, known, err
	}
	other, err := p.permissions.level(ctx, who)
	return lesser(permission, other), reaches(other, p.intake.Hear), err
}

// wasCompared reports whether the text of the issue, as of its last change, was held
// against what the instance knows.
func (p *poller) wasCompared(issue forge.Issue) bool {
	p.saving.Lock()
	defer p.saving.Unlock()
	at, ok := p.compared[issue.Number]
	return ok && at.Equal(issue.UpdatedAt)
}

func (p *poller) compare(issue forge.Issue) {
	p.saving.Lock()
	defer p.saving.Unlock()
	if p.compared == nil {
		p.compared = map[int]time.Time{}
	}
	p.compared[issue.Number] = issue.UpdatedAt
}

// held reports whether an issue has the label that holds work on it.
func (p *poller) held(issue forge.Issue) bool { return change.HasLabel(issue, p.intake.Hold) }

// hold handles the label that holds work, and the lock, of an issue.
func (p *poller) hold(ctx context.Context, issue forge.Issue) error {
	name := Name(p.repo, issue.Number)
	in, err := p.client.Get(ctx, name)
	if err != nil {
		return dropRefusal(p.log, name, err)
	}
	_, err = send(ctx, p.client, p.log, change.Labelled{Issue: issue, In: in, Label: p.intake.Hold})
	return err
}

// reopen starts the instance of an issue again if the issue was closed before and is open
// now. Once a closing: the command's id says which. It takes what a new issue takes, so
// that nobody has work done again and again by closing and opening.
func (p *poller) reopen(ctx context.Context, issue forge.Issue) error {
	closings, err := p.cursors.load(ctx, p.repo+"/closed")
	if err != nil {
		return err
	}
	at, closed := closings.Shut[issue.Number]
	if !closed || !issue.UpdatedAt.After(at) {
		return nil
	}
	name := Name(p.repo, issue.Number)
	if in, err := find(ctx, p.client, name); err != nil || in == nil || in.GetClosed() == "" {
		return err
	}
	if admitted, err := p.admit(ctx, issue); err != nil || admitted.refused != "" {
		if err == nil {
			p.refuse("reopening", issue.Author.Login, name+": "+admitted.refused)
		}
		return err
	}
	replies, err := send(ctx, p.client, p.log, change.Reopened{Issue: issue, Instance: name, Closed: at})
	for _, r := range replies {
		if !r.GetDuplicate() {
			p.log.Info("starts again, since the issue was opened again", "instance", name, "state", r.GetInstance().GetState())
		}
	}
	return err
}

// lookAtIssue handles what a poll would, for one issue now. It moves no cursor: the next poll
// finds the same again, and its commands have the same ids. Comments are read since the
// time, zero: since the cursor.
func (p *poller) lookAtIssue(ctx context.Context, issue forge.Issue, since time.Time) error {
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
	err = p.issueRow(ctx, issue, from, &next)
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
