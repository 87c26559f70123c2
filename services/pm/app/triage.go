package app

import (
	"context"
	"errors"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/triage"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// others finds the instances that an issue is compared with. A *client.Client does.
type others interface {
	List(ctx context.Context, q *pb.ListRequest) ([]*pb.Summary, error)
	Get(ctx context.Context, id string) (*pb.Instance, error)
}

const (
	// listPage is how many instances are asked for at a time.
	listPage = 1000
	// maxCompared is how many instances have their texts compared, in addition to their titles.
	maxCompared = 8
)

// triage notes the kind of the issue, and the others that are probably about the same. It
// sets the labels that the repository's policy has for that, and nothing without a policy.
// Nothing else is done about it: people decide.
func (h *handler) triage(ctx context.Context, job agent.Job) error {
	if job.Note == nil {
		return nil
	}
	var f triage.Finding
	f.Kind, f.Reason = triage.KindOf(job.Issue.Title, job.Issue.Body, job.Issue.Labels)
	f.Duplicates = h.duplicates(ctx, job)
	labels := f.LabelsFor(job.Issue.Configured().Labels, job.Issue.Labels)
	if job.Issue.Number > 0 && len(labels) > 0 {
		switch err := h.writer.AddLabels(ctx, job.Issue.Repo, job.Issue.Number, labels); {
		case err == nil:
			f.Labels = labels
		case errors.Is(err, forge.ErrDenied) || errors.Is(err, forge.ErrInvalid) || errors.Is(err, forge.ErrNotFound):
			h.log.Warn("the labels of triage are not set; the work goes on", "instance", job.Instance, "labels", labels, "error", err)
		default:
			return forgeside.Classify(err)
		}
	}
	return job.Note(ctx, triage.Note, f.String())
}

// duplicates returns the instances of the same repository that are probably about the same. If they
// cannot be read it returns none: nothing waits for it.
func (h *handler) duplicates(ctx context.Context, job agent.Job) []triage.Match {
	if h.others == nil {
		return nil
	}
	all, err := h.others.List(ctx, &pb.ListRequest{All: true, Repo: job.Issue.Repo, Limit: listPage})
	if err != nil {
		h.log.Warn("the issue is not compared with others", "instance", job.Instance, "error", err)
		return nil
	}
	var reports []triage.Report
	for _, one := range all {
		id := one.GetInstance()
		if id == job.Instance || one.GetParent() != "" || one.GetClosed() == string(instance.Cancelled) ||
			!strings.HasPrefix(id, job.Issue.Repo+"/") || !triage.Worth(job.Issue.Title, one.GetTitle()) {
			continue
		}
		r := triage.Report{Instance: id, Title: one.GetTitle()}
		if len(reports) < maxCompared {
			if in, err := h.others.Get(ctx, id); err == nil {
				r.Body = in.GetIssue().GetBody()
			}
		}
		reports = append(reports, r)
	}
	return triage.Likely(triage.Report{Instance: job.Instance, Title: job.Issue.Title, Body: job.Issue.Body}, reports)
}

// kindOf returns what the status says of a finding: the kind with its reason, and the likely
// duplicates with theirs.
func kindOf(note string) (kind string, repeats []string) {
	f := triage.Parse(note)
	for _, m := range f.Duplicates {
		repeats = append(repeats, m.Sentence())
	}
	return f.Sentence(), repeats
}
