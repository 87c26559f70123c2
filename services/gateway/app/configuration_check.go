package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
)

// shownCheck is a check that shows whether the configuration is right.
type shownCheck struct {
	Run    int64  `json:"run"`
	Commit string `json:"commit"`
	Wrong  bool   `json:"wrong,omitempty"`
}

// show shows by a check of the newest commit that the configuration there is wrong, or that
// it is mended. Where nothing was wrong there is no check. Nobody else uses c meanwhile.
func (c *configurations) show(ctx context.Context) error {
	commit := c.looked[c.repo].Commit
	if c.checks == nil || c.mute || commit == "" {
		return nil
	}
	k, err := c.kept(ctx)
	if err != nil {
		return err
	}
	wrong := strings.HasPrefix(c.read.wrongFile.File, c.repo+":") // not that of the owner
	if wrong == k.Shown.Wrong && (!wrong || commit == k.Shown.Commit) {
		return nil
	}
	run, id := c.check(commit, wrong), int64(0)
	if commit == k.Shown.Commit {
		id = k.Shown.Run
	}
	id, err = c.checks.PublishCheck(ctx, c.repo, id, run)
	switch {
	case err == nil:
		k.Shown = shownCheck{id, commit, wrong}
		return c.keep(ctx, k)
	case errors.Is(err, forge.ErrDenied), errors.Is(err, forge.ErrNotFound), errors.Is(err, forge.ErrInvalid), errors.As(err, new(*outbound.Refusal)):
		c.mute = true
		c.log.Info("whether the configuration is right is not shown as a check: that takes an App with the permission to write checks", "error", err)
	default:
		c.log.Warn("whether the configuration is right is not shown as a check; it is tried again", "error", err)
	}
	return nil
}

// check is the check of a commit.
func (c *configurations) check(commit string, wrong bool) forge.NewCheckRun {
	run := forge.NewCheckRun{Name: rules.ConfigurationCheck, SHA: commit, Conclusion: "success", Title: "the configuration is right",
		Summary: "New issues are taken up by the operator's values: there is no file."}
	if c.read.Hash != "" {
		run.Summary = fmt.Sprintf("It is in force for new issues: SHA-256 `%s`.", c.read.Hash)
	}
	if !wrong {
		return run
	}
	run.Conclusion, run.Title = "failure", "the configuration is wrong, and not in force"
	run.Summary = "The last valid configuration stays in force. "
	if c.read.never {
		run.Summary = "No new issue is taken up until it is right. "
	}
	run.Summary += "`signalbox config check FILE` checks a file."
	_, path, _ := strings.Cut(c.read.wrongFile.File, ":")
	run.Annotations = annotations(path, c.read.wrong)
	return run
}

// annotations returns what is wrong, at its lines.
func annotations(path string, err error) (all []forge.Annotation) {
	for _, p := range workflow.Problems(err) {
		text := p.Text
		if p.Meant != "" {
			text += fmt.Sprintf("; did you mean %q?", p.Meant)
		}
		all = append(all, forge.Annotation{Path: path, Line: max(p.At.Line, 1), Level: "failure", Title: "Signalbox", Message: text})
	}
	if len(all) == 0 {
		all = []forge.Annotation{{Path: path, Line: 1, Level: "failure", Title: "Signalbox", Message: err.Error()}}
	}
	return all
}
