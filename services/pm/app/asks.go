package app

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// askIssue returns the number of the issue on which people are asked about an instance
// that has none, such as a task of a plan. It opens the issue if there is none yet; 0:
// nobody has to be asked.
func (h *handler) askIssue(ctx context.Context, in *pb.Instance, repo string) (int, error) {
	if !needsPeople(in) {
		return 0, nil
	}
	if repo == "" {
		h.log.Warn("people are needed, and there is no repository to tell them", "instance", in.GetInstance(), "state", in.GetState())
		return 0, nil
	}
	if err := h.gate.Repos.Check(repo); err != nil {
		h.gate.Refuse("issue", err, "instance", in.GetInstance(), "repo", repo)
		return 0, nil
	}
	self, err := h.reader.Self(ctx)
	if err != nil {
		return 0, err
	}
	all, err := h.reader.IssuesBy(ctx, repo, self)
	if err != nil {
		return 0, err
	}
	for _, issue := range all {
		if id, key, ok := rules.FindMarker(issue.Body); ok && issue.State == "open" && issue.Author.Login == self && id == in.GetInstance() && key == rules.AsksPeople {
			return issue.Number, nil
		}
	}
	title := sanitize.Subject(fmt.Sprintf("%s needs a person", in.GetInstance()))
	body := rules.Asks(in.GetIssue().GetTitle(), in.GetInstance())
	made, err := h.writer.CreateIssue(ctx, repo, forge.NewIssue{Title: title, Body: body + "\n" + rules.Marker(in.GetInstance(), rules.AsksPeople)})
	return made.Number, err
}

// needsPeople reports whether an instance cannot go on without people.
func needsPeople(in *pb.Instance) bool {
	if in.GetClosed() != "" {
		return false
	}
	for _, e := range in.GetEscalations() {
		if e.GetRequiresHuman() && !e.GetResolved() {
			return true
		}
	}
	return in.GetKind() == string(workflow.Wait) && in.GetWorker() == ""
}
