package app

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/merge"
)

// gateAnswered is the one gate that is not of the pull request alone: what
// reviewers said has been taken into account (story lifecycle: no unresolved
// comments).
const gateAnswered = "remarks-answered"

func (t *turn) answeredGate() merge.Gate {
	g := merge.Gate{Name: gateAnswered, Verdict: merge.Pass, Reason: "no remark waits for an answer"}
	switch {
	case t.last.Who == merge.Reviewer:
		g.Verdict, g.Reason = merge.Fail, fmt.Sprintf("%d remarks wait for an answer", len(t.last.New))
		for _, r := range t.last.New {
			g.Evidence = append(g.Evidence, merge.Evidence{What: r.Key, Says: "by " + r.By.Login, URL: r.URL})
		}
	case t.last.Who == "":
		g.Verdict, g.Reason = merge.Unknown, t.last.Why
	}
	return g
}

// ready: every gate passes, but that the draft is ours to end.
func (t *turn) ready() bool { return t.verdict() == merge.Pass }

// missing are the gates that do not pass. The draft that we made waits for nobody
// but us; one that somebody made of it later is their will.
func (t *turn) missing() (all []merge.Gate) {
	for _, g := range t.report.Open() {
		if g.Name != merge.GateNotDraft || t.job.Vars["undrafted"] == "true" {
			all = append(all, g)
		}
	}
	return all
}

// verdict is the worst of all gates.
func (t *turn) verdict() merge.Verdict {
	worst := merge.Pass
	order := []merge.Verdict{merge.Pass, merge.Pending, merge.Fail, merge.Unknown}
	for _, g := range t.missing() {
		if slices.Index(order, g.Verdict) > slices.Index(order, worst) {
			worst = g.Verdict
		}
	}
	return worst
}

// evidence is the gates that changed, and what all come to. What the log has as
// it is now is left out: a pull request is looked at many times before anything
// changes. A merge cites them all.
func (t *turn) evidence() []instance.Evidence {
	var all []instance.Evidence
	for _, g := range t.report.Gates {
		data := map[string]string{"reason": g.Reason}
		for _, e := range g.Evidence {
			if was, twice := data[e.What]; twice {
				e.Says = was + "; " + e.Says
			}
			data[e.What] = e.Says
		}
		ev := t.finding("gate:"+g.Name, g.Verdict, data)
		if was, ok := evidence(t.job, ev.Name); !ok || !same(was, ev) || t.ready() {
			all = append(all, ev)
		}
	}
	reason := "every gate passes"
	if n := len(t.missing()); n > 0 {
		reason = fmt.Sprintf("%d of %d gates do not pass", n, len(t.report.Gates))
	}
	return append(all, t.finding("readiness", t.verdict(), map[string]string{
		"reason": reason, "method": t.report.Method, "read_at": t.world.ReadAt.Format(time.RFC3339), "pull_request": strconv.Itoa(t.world.Number),
	}))
}

// finding is a verdict on the commit that was looked at.
func (t *turn) finding(name string, v merge.Verdict, data map[string]string) instance.Evidence {
	return instance.Evidence{Name: name, OK: v == merge.Pass, Verdict: instance.Verdict(v), Commit: t.world.Head, Data: data}
}

// same tells whether two findings say the same of the same commit.
func same(a, b instance.Evidence) bool {
	return a.Verdict == b.Verdict && a.Commit == b.Commit && maps.Equal(a.Data, b.Data)
}

func contains(list []string, s string) bool { return slices.Contains(list, s) }
