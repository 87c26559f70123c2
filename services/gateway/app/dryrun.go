package app

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/gateway/change"
)

// DryRun prints what a first poll would do with each open issue, and does nothing. It
// reads the forge alone, so it knows of no issue whether it was taken up before, and of a
// wrong configuration not which one stays in force. The definitions are those that a
// configuration may choose.
func (s Settings) DryRun(ctx context.Context, out io.Writer, defs ...*workflow.Definition) error {
	host, err := s.Forge.Client()
	if err != nil {
		return err
	}
	list := forgeside.Repositories(s.Repo)
	if err := list.Permitted(host); err != nil {
		return service.Usagef("%w", err)
	}
	found, err := list.Resolve(ctx, host, func(string) bool { return true })
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(found.Missing)) {
		if _, err := fmt.Fprintf(out, "%s: there is nothing to watch: %v\n", name, found.Missing[name]); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found.Unknown)) {
		return found.Unknown[name]
	}
	for _, one := range found.Of(list) {
		if one.Archived {
			if _, err := fmt.Fprintf(out, "%s: it is archived, and rests\n", one.Name); err != nil {
				return err
			}
			continue
		}
		repo := one.Name
		p := &poller{reader: host, repo: repo, workflow: s.Workflow, label: s.Label, all: s.All, intake: s.Intake, log: slog.New(slog.DiscardHandler)}
		p.permissions = &permissions{forge: host, repo: repo, now: time.Now}
		p.configs = &configurations{forge: host, given: defs, repo: repo, workflow: s.Workflow, lifecycles: s.Lifecycles, now: time.Now, log: p.log}
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
	config, err := p.configs.current(ctx)
	if err != nil {
		return err
	}
	switch {
	case config.wrong != nil:
		_, err = fmt.Fprintf(out, "%s: its configuration is wrong, and nothing new is taken up while none was right: %v\n", p.repo, config.wrong)
	case config.file != "":
		_, err = fmt.Fprintf(out, "%s: configured by %s, SHA-256 %s\n", p.repo, located{File: config.file, Commit: config.commit}.name(), config.Hash)
	case p.configs.denied:
		_, err = fmt.Fprintf(out, "%s: its configuration cannot be read, which takes the permission contents: the operator's values count\n", p.repo)
	}
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
		case p.label != "" && !change.HasLabel(issue, p.label):
			verdict = "left alone: it has no label " + p.label
		case why.refused != "":
			verdict = "left alone: " + why.refused
		case config.refuses(issue) != "":
			verdict = "left alone: " + config.refuses(issue)
		case p.isOld(next, issue):
			verdict = "left alone: it was open before"
		default:
			taken++
		}
		if _, err := fmt.Fprintf(out, "%s#%d %q: %s\n", p.repo, issue.Number, sanitize.TerminalLine(issue.Title), verdict); err != nil {
			return err
		}
	}
	if config.never { // what would be taken up is not known
		return nil
	}
	_, err = fmt.Fprintf(out, "%s: %d of %d open issues would be taken up, by the lifecycle %s, and those reported from now on by people with the permission %s\n",
		p.repo, taken, len(issues), cmp.Or(config.Lifecycle, p.workflow), p.intake.Start)
	return err
}
