package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// gatesPassed returns the names of the checks that pass on the newest commit.
func (in Instance) gatesPassed() []string {
	names := []string{}
	for _, e := range in.current() {
		if e.EffectiveVerdict() == instance.VerdictPass {
			names = append(names, e.Name)
		}
	}
	return names
}

// blocking returns the reasons that an open instance, or one that failed, is not done: the checks that fail on
// the newest commit, the issues of a result that was none, and all that people have to do.
func (in Instance) blocking() []string {
	all := []string{}
	if in.Closed != "" && !in.moveFailed {
		return all
	}
	for _, e := range in.current() {
		if e.EffectiveVerdict() == instance.VerdictFail {
			all = append(all, strings.TrimSpace("the check "+e.Name+" fails: "+strings.Join(e.Failed, ", ")+" "+e.Data["reason"]))
		}
	}
	if r := in.LastResult; r != nil && r.Status != instance.Success {
		all = append(all, r.IssuesFound...)
		if len(r.IssuesFound) == 0 && r.Summary != "" {
			all = append(all, r.Summary)
		}
	}
	if in.Closed != "" {
		return all
	}
	for _, q := range in.Open() {
		all = append(all, fmt.Sprintf("Q%d is not answered: %s", q.Number, q.Text))
	}
	for _, e := range in.Escalations {
		if e.RequiresHuman && !e.Resolved {
			all = append(all, fmt.Sprintf("E%d is not resolved: %s", e.Number, e.Reason))
		}
	}
	if in.Paused {
		all = append(all, "it is paused: "+in.Reason)
	}
	return all
}

// current returns the evidence on the newest commit. Runs on the base are about no change.
func (in Instance) current() []instance.Evidence {
	return slices.DeleteFunc(slices.Clone(in.Evidence), func(e instance.Evidence) bool {
		return e.Name == work.Red || e.Name == work.Base || e.Commit != "" && e.Commit != in.Head
	})
}
