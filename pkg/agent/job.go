package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/learning"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// job returns the reply to a claim in the form the handler gets.
func (a *Agent) job(r *pb.CommandReply) Job {
	in := r.GetInstance()
	j := Job{Token: uint64(r.GetToken()), Assignment: Assignment(in)}
	j.Role, j.Agent, j.About, j.Next = a.Role, a.Name, r.GetTask().GetAbout(), r.GetTask().GetNext()
	j.Policy, j.Writes = policy(r.GetTask().GetPolicy()), r.GetTask().GetWrites()
	if q := r.GetTask().GetQuestion(); q != nil {
		asked := wire.ToQuestion(q)
		j.Question = &asked
	}
	if w := r.GetTask().GetWork(); w != nil {
		j.Work = workflow.WorkSpec{Runs: w.GetRuns(), Change: w.GetChange(), Does: w.GetDoes()}
	} else { // an orchestrator of an earlier build
		j.Work = workflow.EarlierWork(j.Workflow, j.State, a.Role, j.Question != nil)
	}
	for _, b := range in.GetBundles() {
		j.Bundles = append(j.Bundles, instance.Bundle{Object: b.GetObject(), Head: b.GetHead(), Role: b.GetRole()})
	}
	j.Faults = int(in.GetFaults())
	j.Spent, j.Raised = wire.ToCost(in.GetSpend()), wire.ToRaise(in.GetRaised())
	j.Writers, j.Testers, j.Checks = r.GetTask().GetWriters(), r.GetTask().GetTesters(), r.GetTask().GetChecks()
	j.live = &live{redact: a.redact}
	j.Printed = j.live.add
	j.Progress = func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		j.live.add("[" + text + "]")
		a.Observer.Progressed(j, text)
	}
	j.Note = func(ctx context.Context, kind, text string) error { return a.note(ctx, j, kind, text) }
	j.Steps = func(ctx context.Context) ([]work.PastStep, error) {
		commits, err := a.commits(ctx, j.Instance)
		return work.PastSteps(commits), err
	}
	j.Shares = func(ctx context.Context) ([]work.Share, error) {
		commits, err := a.commits(ctx, j.Instance)
		return work.Shares(commits), err
	}
	j.Affordable, j.spent = context.WithCancelCause(context.Background())
	if repo := j.Issue.Repo; repo != "" {
		j.Learnings = func(ctx context.Context) ([]learning.Learning, error) { return a.Client.Learnings(ctx, repo) }
		j.Learned = func(ctx context.Context, path, text string) error { return a.learned(ctx, j, path, text) }
		j.Used = func(ctx context.Context, ids []string) error { return a.used(ctx, j, ids) }
	}
	j.Spend = func(ctx context.Context, cost instance.Cost) error { return a.charge(ctx, j, cost) }
	return j
}

// Assignment returns what an assignment has of its instance: all but what the state asks
// of the role.
func Assignment(in *pb.Instance) brain.Assignment {
	a := brain.Assignment{
		Protocol: brain.Protocol, Instance: in.GetInstance(), Workflow: in.GetWorkflow(), State: in.GetState(),
		Iteration: int(in.GetIteration()), Attempt: int(in.GetAttempt()), Issue: wire.ToIssue(in.GetIssue()),
		Questions: wire.ToQuestions(in.GetQuestions()), Notes: heard(wire.ToNotes(in.GetNotes())), Previous: in.GetPreviousStates(),
		Evidence: wire.ToEvidence(in.GetEvidence()), Base: in.GetBase(), Head: in.GetHead(), Opened: in.GetOpenedAt().AsTime(),
		Entered:  entered(in),
		Failures: int(in.GetFailures()[in.GetState()]), Vars: in.GetVars(), Escalations: wire.ToEscalations(in.GetEscalations()),
	}
	a.Sections, a.Warnings = sections(in.GetSections())
	if in.LastResult != nil {
		last := wire.ToResult(in.LastResult)
		a.Last = &last
	}
	if in.GetLoop() {
		n := min(3, len(a.Previous))
		a.Warnings = append(a.Warnings, fmt.Sprintf("loop: the newest states are %v; the same failure once more ends the run",
			a.Previous[len(a.Previous)-n:]))
	}
	return a
}

// entered returns when the instance came into its state; zero if the reply does not say.
func entered(in *pb.Instance) time.Time {
	if in.GetEnteredAt() == nil {
		return time.Time{}
	}
	return in.GetEnteredAt().AsTime()
}

// heard returns the notes without the remarks of people who are not heard. The log
// keeps those.
func heard(notes []instance.NoteEntry) []instance.NoteEntry {
	return slices.DeleteFunc(notes, func(n instance.NoteEntry) bool { return n.Kind == instance.Remarked })
}

// commits returns the commits of an instance.
func (a *Agent) commits(ctx context.Context, id string) ([]instance.Commit, error) {
	records, err := a.Client.History(ctx, id, 0)
	if err != nil {
		return nil, err
	}
	commits := make([]instance.Commit, len(records))
	for i, r := range records {
		commits[i] = wire.Recorded(r)
	}
	return commits, nil
}

func (a *Agent) note(ctx context.Context, job Job, kind, text string) error {
	return a.sendNote(ctx, job, &pb.Note{Kind: kind, Text: a.redact.text(text)})
}

func (a *Agent) learned(ctx context.Context, job Job, path, text string) error {
	return a.sendNote(ctx, job, &pb.Note{Kind: learning.Noted, Text: a.redact.text(text), Learning: &pb.Learning{Path: a.redact.text(path)}})
}

func (a *Agent) used(ctx context.Context, job Job, ids []string) error {
	return a.sendNote(ctx, job, &pb.Note{Kind: learning.Used, Learning: &pb.Learning{Ids: ids}})
}

// sendNote records a note with the instance, once for all that are the same.
func (a *Agent) sendNote(ctx context.Context, job Job, n *pb.Note) error {
	all := append([]string{job.Instance, a.Role, n.GetKind(), n.GetText()}, n.GetLearning().GetIds()...)
	if path := n.GetLearning().GetPath(); path != "" {
		all = append(all, path)
	}
	same := sha256.Sum256([]byte(strings.Join(all, "\x00")))
	return a.command(ctx, job, subject.Note, &pb.Command{Id: "note-" + hex.EncodeToString(same[:]), Action: &pb.Command_Note{Note: n}})
}

// Open returns the questions to people that are not answered.
func (j Job) Open() []instance.Question {
	return slices.DeleteFunc(slices.Clone(j.Questions), func(q instance.Question) bool { return q.Answered || q.To != "" })
}

// sections returns the sections of the document that are valid JSON. A section
// that is too large for one message is cut, and so is not valid.
func sections(texts map[string]string) (whole map[string]json.RawMessage, warnings []string) {
	whole = make(map[string]json.RawMessage, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		if text := texts[name]; json.Valid([]byte(text)) {
			whole[name] = json.RawMessage(text)
		} else {
			warnings = append(warnings, fmt.Sprintf("section %s of the document is left out: it is too large", name))
		}
	}
	return whole, warnings
}

func policy(p map[string]string) map[string]any {
	out := make(map[string]any, len(p))
	for k, v := range p {
		out[k] = v
	}
	return out
}

// signature identifies a handler's error. Ids and paths in its text are left out,
// since each try has new ones. So is the state: the same error in every state is
// no progress.
func signature(text string) string {
	return testrun.Signature(instance.Evidence{Output: changingIDs.ReplaceAllString(text, "ID")})
}

var changingIDs = lazyregexp.New(`\b[0-9a-f]{12,}\b|\d{5,}`)
