package app

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/pkg/sanitize"
)

// DryRun prints what a first poll would do with each open issue, and does nothing. It
// reads the forge alone, so it knows of no issue whether it was taken up before.
func (s Settings) DryRun(ctx context.Context, out io.Writer) error {
	host, err := s.Forge.Client()
	if err != nil {
		return err
	}
	for _, repo := range s.Repo {
		p := &poller{reader: host, repo: repo, workflow: s.Workflow, label: s.Label, all: s.All, intake: s.Intake, log: slog.New(slog.DiscardHandler)}
		p.permissions = &permissions{forge: host, repo: repo, now: time.Now}
		if err := p.dryRun(ctx, out); err != nil {
			return err
		}
	}
	return nil
}

func (p *poller) dryRun(ctx context.Context, out io.Writer) error {
	issues, err := p.reader.Issues(ctx, p.repo, time.Time{})
	if err != nil {
		return err
	}
	var next cursor
	p.begin(&next, issues)
	taken := 0
	for _, issue := range issues {
		why, err := p.admit(ctx, issue)
		if err != nil {
			return err
		}
		verdict := "would be taken up"
		switch {
		case p.label != "" && !hasLabel(issue, p.label):
			verdict = "left alone: it has no label " + p.label
		case why.refused != "":
			verdict = "left alone: " + why.refused
		case p.isOld(next, issue):
			verdict = "left alone: it was open before"
		default:
			taken++
		}
		if _, err := fmt.Fprintf(out, "%s#%d %q: %s\n", p.repo, issue.Number, sanitize.TerminalLine(issue.Title), verdict); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(out, "%s: %d of %d open issues would be taken up, by the lifecycle %s, and those reported from now on by people with the permission %s\n",
		p.repo, taken, len(issues), p.workflow, p.intake.Start)
	return err
}
