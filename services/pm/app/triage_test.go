package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/triage"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// known are the instances that an issue is compared with.
type known struct {
	all   []*pb.Summary
	texts map[string]string // by instance
	err   error
	asked *pb.ListRequest
}

func (k *known) List(_ context.Context, q *pb.ListRequest) ([]*pb.Summary, error) {
	k.asked = q
	return k.all, k.err
}

func (k *known) Get(_ context.Context, id string) (*pb.Instance, error) {
	return &pb.Instance{Instance: id, Issue: &pb.Issue{Body: k.texts[id]}}, k.err
}

// triaged takes the issue up, and returns the finding and the labels that the issue has after it.
func (e *env) triaged(change func(*agent.Job)) (f triage.Finding, labels []string) {
	e.Helper()
	job, noted := e.job("received"), 0
	job.Note = func(_ context.Context, kind, text string) error {
		if kind == triage.Note {
			f = triage.Parse(text)
			noted++
		}
		return nil
	}
	change(&job)
	if r := e.done(job); r.Status != instance.Success || noted != 1 {
		e.Errorf("it ended with %+v, and %d findings were noted", r, noted)
	}
	issue, err := e.ann.Issue(e.Context(), widgets, e.issue.Number)
	if err != nil {
		e.Fatal(err)
	}
	return f, issue.Labels
}

func TestAnIssueThatIsTakenUpHasItsKindAndItsLikelyDuplicatesNoted(t *testing.T) {
	w := newEnv(t)
	k := &known{all: []*pb.Summary{
		{Instance: "acme/widgets/1", Title: "The sum is wrong"}, // itself
		{Instance: "acme/widgets/7", Title: "A sum of two is wrong", Closed: "ended"},
		{Instance: "acme/widgets/8", Title: "Sum of two", Closed: "cancelled"},
		{Instance: "acme/widgets/9", Title: "Dark mode"},
		{Instance: "acme/widgets/US-1", Title: "Sum of two", Parent: "acme/widgets/7"},
		{Instance: "acme/others/2", Title: "Sum of two"},
	}}
	w.handler.others = k
	f, labels := w.triaged(func(job *agent.Job) { job.Issue.Title = "Sum of two is wrong" })
	if f.Kind != triage.Bug || f.Reason != `its title has "wrong"` || len(f.Duplicates) != 1 || f.Duplicates[0].Instance != "acme/widgets/7" ||
		f.Duplicates[0].Reason != "the titles share 2 of 2 words: sum, two" {
		t.Errorf("the finding is %+v", f)
	}
	if len(labels)+len(f.Labels) > 0 {
		t.Errorf("without a policy the labels are %v", labels)
	}
	if k.asked.GetRepo() != widgets || !k.asked.GetAll() {
		t.Errorf("it is compared with those of %+v", k.asked)
	}
}

func TestLabelsAreSetByPolicyAlone(t *testing.T) {
	w := newEnv(t)
	policy := &instance.Configuration{Labels: map[string]string{"bug": "type: bug", "feature": "enhancement", "duplicate": "maybe duplicate"}}
	for range 2 { // the second time after a crash
		f, labels := w.triaged(func(job *agent.Job) { job.Issue.Config = policy })
		if want := []string{"type: bug"}; !slices.Equal(labels, want) || !slices.Equal(f.Labels, want) {
			t.Errorf("the labels are %v, and noted are %v", labels, f.Labels)
		}
	}
}

func TestTriageHoldsNoWork(t *testing.T) {
	w := newEnv(t)
	w.handler.others = &known{err: errors.New("no orchestrator")}
	if f, _ := w.triaged(func(*agent.Job) {}); f.Kind != triage.Bug || len(f.Duplicates) > 0 {
		t.Errorf("the finding is %+v", f)
	}
}

func TestTheStatusNamesTheKindAndLikelyDuplicates(t *testing.T) {
	note := triage.Finding{Kind: "bug", Reason: "its title has \"wrong\"", Duplicates: []triage.Match{{Instance: "acme/widgets/7", Reason: "the titles share 2 of 2 words: sum, two"}}}
	in := &pb.Instance{Instance: "acme/widgets/1", State: "implementing", Kind: "work", Worker: "developer",
		Notes: []*pb.Remark{{Kind: triage.Note, Text: note.String()}}}
	text := statusOf(in, nil, nil, instance.Rest{}).Text()
	for _, want := range []string{`- Kind: bug: its title has "wrong"`, "- Probably about the same: acme/widgets/7: the titles share 2 of 2 words: sum, two"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
