package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/command"
	"github.com/signalbox/signalbox/pkg/forge/merge"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// The signals of a story by which people want its pull request merged, and its base
// brought in. The data names the commit that they mean.
const (
	mergeRequested  = "merge_requested"
	rebaseRequested = "rebase_requested"
)

// merge has the pull request merged at its present commit. Where gates do not pass yet, the
// text says which.
func (o order) merge(ctx context.Context, cmd command.Command) (text string, err error) {
	pr, err := o.openPullRequest(ctx, mergeRequested)
	if err != nil {
		return "", err
	}
	if _, err := o.signalWith(ctx, cmd, mergeRequested, map[string]string{"merge_at": pr.HeadSHA}); err != nil {
		return "", err
	}
	missing := gatesMissing(o.of.in, pr.HeadSHA)
	if len(missing) == 0 {
		return "", nil
	}
	return fmt.Sprintf("`%.7s` is merged once these gates pass. If the branch moves, say it again.\n\n- %s\n", pr.HeadSHA,
		strings.Join(missing, "\n- ")), nil
}

// gatesMissing returns the gates that did not pass when the shepherd looked last at a
// commit, a line of Markdown each. Its own draft is none.
func gatesMissing(in *pb.Instance, commit string) (lines []string) {
	for _, e := range wire.ToEvidence(in.GetEvidence()) {
		name, isGate := strings.CutPrefix(e.Name, "gate:")
		ours := name == merge.GateNotDraft && in.GetVars()["undrafted"] != "true"
		if isGate && !ours && e.Commit == commit && e.EffectiveVerdict() != instance.VerdictPass {
			lines = append(lines, sanitize.Code(name)+": "+sanitize.MarkdownLine(e.Data["reason"]))
		}
	}
	return lines
}

// gatesSeen returns the commit at which the shepherd looked last at the gates, "" if it
// never did.
func gatesSeen(in *pb.Instance) string {
	for _, e := range in.GetEvidence() {
		if e.GetName() == "readiness" {
			return e.GetCommit()
		}
	}
	return ""
}

// rebase has the base brought into the pull request at its present commit.
func (o order) rebase(ctx context.Context, cmd command.Command) error {
	pr, err := o.openPullRequest(ctx, rebaseRequested)
	if err != nil {
		return err
	}
	missing, err := o.forge.Behind(ctx, o.repo, pr.BaseRef, pr.HeadSHA)
	switch {
	case err != nil:
		return lastingRefusal(err)
	case missing == 0:
		return refuse("finds nothing to bring in: %.7s has all of %s", pr.HeadSHA, pr.BaseRef)
	}
	_, err = o.signalWith(ctx, cmd, rebaseRequested, map[string]string{"rebase_at": pr.HeadSHA})
	return err
}

// hears reports whether a state of the lifecycle takes a signal.
func hears(def *workflow.Definition, signal string) bool {
	return slices.ContainsFunc(def.States, func(s workflow.State) bool { return len(s.On[signal]) > 0 })
}

// hearsNothing refuses a command about a merge where the lifecycle has none for it.
func (o order) hearsNothing(ctx context.Context, def *workflow.Definition) error {
	if o.of.pull > 0 {
		pr, err := o.forge.PullRequest(ctx, o.repo, o.of.pull)
		switch {
		case err != nil && !errors.Is(err, forge.ErrNotFound):
			return lastingRefusal(err)
		case err == nil && pr.Merged:
			return refuse("changes nothing any more: #%d is merged", o.of.pull)
		}
	}
	if _, merges := def.Policy["auto_merge"]; merges {
		return refuse("is not of the lifecycle %s, as it was when this work began", def.Name)
	}
	return refuse("is not of the lifecycle %s, which merges nothing", def.Name)
}

// openPullRequest returns the open pull request of the work, if its state takes the signal.
func (o order) openPullRequest(ctx context.Context, signal string) (pr forge.PullRequest, err error) {
	def, err := o.definition(ctx)
	if err != nil {
		return pr, err
	}
	in := o.of.in
	state, _ := def.State(in.GetState())
	switch {
	case in.GetClosed() != "":
		return pr, refuse("changes nothing any more: it is %s, in %s", in.GetClosed(), in.GetState())
	case !hears(def, signal):
		return pr, o.hearsNothing(ctx, def)
	case len(state.On[signal]) == 0 || o.of.pull == 0:
		return pr, refuse("finds no pull request yet: it is in %s", in.GetState())
	}
	pr, err = o.forge.PullRequest(ctx, o.repo, o.of.pull)
	switch {
	case errors.Is(err, forge.ErrNotFound):
		return pr, refuse("finds no pull request: #%d is gone", o.of.pull)
	case err != nil:
		return pr, lastingRefusal(err)
	case pr.Merged:
		return pr, refuse("changes nothing any more: #%d is merged", o.of.pull)
	case pr.State != "open":
		return pr, refuse("changes nothing any more: #%d is closed", o.of.pull)
	}
	return pr, nil
}
