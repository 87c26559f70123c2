package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// The limits of a gate in the table, in characters.
const (
	maxReason   = 300
	maxEvidence = 10
)

// ownCheck takes the shepherd's own check out of the snapshot, and returns its id, 0 if
// there is none on the head. No gate may wait for it.
func ownCheck(s *merge.Snapshot) (id int64) {
	s.Checks = slices.DeleteFunc(s.Checks, func(c merge.Check) bool {
		ours := c.Kind == "run" && c.Name == rules.GatesCheck
		if ours {
			id = max(id, c.ID)
		}
		return ours
	})
	return id
}

// publish shows the gates as a check of the head, unless that shows them already. A forge
// lets Apps alone do that; for others it is left out.
func (t *visit) publish(ctx context.Context) (r instance.Result, done bool, err error) {
	if t.denied.Load() || t.shown != 0 && !t.changed() {
		return r, false, nil
	}
	_, err = t.forge.PublishCheck(ctx, t.snapshot.Repo, t.shown, t.check())
	switch {
	case errors.Is(err, forge.ErrDenied), errors.Is(err, forge.ErrNotFound), errors.Is(err, forge.ErrInvalid):
		if !t.denied.Swap(true) && t.gate.Log != nil {
			t.gate.Log.Info("the gates of a merge are not shown as a check: that takes an App with the permission to write checks",
				"repo", t.snapshot.Repo, "pull", t.snapshot.Number, "error", err)
		}
		err = nil
	case errors.As(err, new(*outbound.Refusal)): // it is counted and logged
		err = nil
	}
	return r, false, err
}

// changed reports whether a gate differs from what the log has of it.
func (t *visit) changed() bool {
	return slices.ContainsFunc(t.report.Gates, func(g merge.Gate) bool {
		ev := t.gateFinding(g)
		was, ok := t.job.evidence(ev.Name)
		return !ok || !same(was, ev)
	})
}

// check is the check that shows the gates. It is neutral until every gate passes: what is
// not ready is no failure.
func (t *visit) check() forge.NewCheckRun {
	run := forge.NewCheckRun{Name: rules.GatesCheck, SHA: t.snapshot.Head, Conclusion: "success", Title: "every gate passes"}
	open := t.missing()
	if n := len(open); n > 0 {
		run.Conclusion, run.Title = "neutral", fmt.Sprintf("%d of %d gates do not pass", n, len(t.report.Gates))
	}
	later := func(g merge.Gate) bool {
		return g.Verdict != merge.Pass && !slices.ContainsFunc(open, func(o merge.Gate) bool { return o.Name == g.Name })
	}
	run.Summary = gateTable(t.report.Gates, later)
	return run
}

// gateTable is the gates in Markdown. later reports that a gate passes once all others do.
func gateTable(gates []merge.Gate, later func(merge.Gate) bool) string {
	var out strings.Builder
	out.WriteString("| gate | | |\n|---|---|---|\n")
	for _, g := range gates {
		says, why := string(g.Verdict), cell(g.Reason)
		if later(g) {
			says = "at the end"
		}
		for i, e := range g.Evidence {
			if i == maxEvidence {
				why += fmt.Sprintf("<br>and %d more", len(g.Evidence)-i)
				break
			}
			why += "<br>" + cell(e.What+": "+e.Says)
		}
		fmt.Fprintf(&out, "| %s | %s | %s |\n", sanitize.CodeCell(g.Name), says, why)
	}
	return out.String()
}

func cell(s string) string {
	if runes := []rune(s); len(runes) > maxReason {
		s = string(runes[:maxReason]) + " …"
	}
	return sanitize.Cell(s)
}
