package app

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge/merge"
)

// gateAnswered passes if all remarks of reviewers are handled (story lifecycle: no
// unresolved comments). It is the only gate that does not depend on the pull request
// alone.
const gateAnswered = "remarks-answered"

func (t *visit) answeredGate() merge.Gate {
	g := merge.Gate{Name: gateAnswered, Verdict: merge.Pass, Reason: "no remark waits for an answer"}
	switch {
	case t.activity.Who == merge.Reviewer:
		g.Verdict, g.Reason = merge.Fail, fmt.Sprintf("%d remarks wait for an answer", len(t.activity.New))
		for _, r := range t.activity.New {
			g.Evidence = append(g.Evidence, merge.Evidence{What: r.Key, Says: "by " + r.By.Login, URL: r.URL})
		}
	case t.activity.Who == "":
		g.Verdict, g.Reason = merge.Unknown, t.activity.Why
	}
	return g
}

// ready reports whether every gate passes, apart from the draft that we end.
func (t *visit) ready() bool { return t.verdict() == merge.Pass }

// missing returns the gates that do not pass. Our own draft does not count, as we end it;
// a draft that a person made later does.
func (t *visit) missing() (all []merge.Gate) {
	for _, g := range t.report.Open() {
		if g.Name != merge.GateNotDraft || t.job.Vars["undrafted"] == "true" {
			all = append(all, g)
		}
	}
	return all
}

// verdict returns the worst verdict of all gates.
func (t *visit) verdict() merge.Verdict {
	worst := merge.Pass
	order := []merge.Verdict{merge.Pass, merge.Pending, merge.Fail, merge.Unknown}
	for _, g := range t.missing() {
		if slices.Index(order, g.Verdict) > slices.Index(order, worst) {
			worst = g.Verdict
		}
	}
	return worst
}

// evidence returns the gates that changed since the last visit, and the verdict. Visits
// are many and changes few, so what the log has already is left out. A merge has all.
func (t *visit) evidence() []instance.Evidence {
	var all []instance.Evidence
	for _, g := range t.report.Gates {
		ev := t.gateFinding(g)
		if was, ok := t.job.evidence(ev.Name); !ok || !same(was, ev) || t.ready() {
			all = append(all, ev)
		}
	}
	reason := "every gate passes"
	if n := len(t.missing()); n > 0 {
		reason = fmt.Sprintf("%d of %d gates do not pass", n, len(t.report.Gates))
		if n < len(t.report.Open()) {
			until := "they do"
			if t.endsEarly() {
				until = "only reviewers are waited for"
			}
			reason += ", in addition to the draft, which ends when " + until
		}
	}
	return append(all, t.finding("readiness", t.verdict(), map[string]string{
		"reason": reason, "method": t.report.Method, "read_at": t.snapshot.ReadAt.Format(time.RFC3339),
		"pull_request": strconv.Itoa(t.snapshot.Number),
	}))
}

// gateFinding returns what a gate says.
func (t *visit) gateFinding(g merge.Gate) instance.Evidence {
	data := map[string]string{"reason": g.Reason}
	for _, e := range g.Evidence {
		if was, twice := data[e.What]; twice {
			e.Says = was + "; " + e.Says
		}
		data[e.What] = e.Says
	}
	return t.finding("gate:"+g.Name, g.Verdict, data)
}

// finding returns a verdict on the head of the visit.
func (t *visit) finding(name string, v merge.Verdict, data map[string]string) instance.Evidence {
	return instance.Evidence{Name: name, OK: v == merge.Pass, Verdict: instance.Verdict(v), Commit: t.snapshot.Head, Data: data}
}

// same reports whether two findings are equal and of the same commit.
func same(a, b instance.Evidence) bool {
	return a.Verdict == b.Verdict && a.Commit == b.Commit && maps.Equal(a.Data, b.Data)
}
