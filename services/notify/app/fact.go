package app

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/repoconfig"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// The events that targets choose from.
const (
	Waits     = "waits"     // an instance waits for people
	Failed    = "failed"    // it ended without success
	Completed = "completed" // it ended with success, such as by a merge
	Budget    = "budget"    // a budget is spent
	Unproven  = "unproven"  // it ended with a change that no test shows to be right
)

// Events returns all events, and the default of a target.
func Events() (all, usual []string) {
	return repoconfig.Events(), []string{Waits, Failed, Budget}
}

// fact is one matter of a commit that people want to know of.
type fact struct {
	events []string // the most specific first
	index  int      // in the commit, of the event that the matter begins with
	text   string
	state  string // that the instance ended in
	shared string // an id that the same matter has in each commit; empty: it is in this commit only
}

// wants reports whether a target that chose the events gets the fact.
func (f fact) wants(chosen []string) bool {
	return slices.ContainsFunc(f.events, func(e string) bool { return slices.Contains(chosen, e) })
}

// factsOf returns the facts of a commit. A commit waits for people once, whatever it asks.
func factsOf(events []instance.Event) (all []fact) {
	wait := func(index int, text string, more ...string) {
		if i := slices.IndexFunc(all, func(f fact) bool { return slices.Contains(f.events, Waits) }); i >= 0 {
			if len(more) > 0 {
				all[i].events = append(more, Waits)
			}
			return
		}
		all = append(all, fact{events: append(more, Waits), index: index, text: text})
	}
	var questions []string
	for i, e := range events {
		switch e := e.(type) {
		case instance.Asked:
			if e.To == "" {
				questions = append(questions, e.Text)
				wait(i, "")
			}
		case instance.Escalated:
			if strings.HasPrefix(e.Reason, instance.BudgetSpent) {
				wait(i, e.Reason, Budget)
			} else {
				wait(i, e.Reason)
			}
		case instance.Opened:
			if e.Kind == workflow.Wait {
				wait(i, "")
			}
		case instance.Moved:
			switch {
			case e.Kind == workflow.Wait:
				wait(i, e.Reason)
			case e.Kind == workflow.Final && e.Failure:
				all = append(all, fact{events: []string{Failed}, index: i, text: e.Reason})
			case e.Kind == workflow.Final:
				all = append(all, fact{events: []string{Completed}, index: i, text: e.Reason, state: e.To})
			}
		case instance.ParkedUntil:
			if e.WaitsFor == instance.ForBudget {
				sum := sha256.Sum256([]byte(e.Reason))
				all = append(all, fact{events: []string{Budget}, index: i, text: e.Reason, shared: fmt.Sprintf("budget-%d-%x", e.Until.Unix(), sum[:6])})
			}
		}
	}
	for i := range all {
		if slices.Contains(all[i].events, Waits) && len(questions) > 0 {
			all[i].text = strings.Join(questions, "\n")
		}
	}
	return all
}

// holds completes a fact by the instance as it is now, and its lifecycle, which is nil if it is
// unknown. It reports whether the fact is one: an instance that comes after others waits for
// those, and not for people.
func (f *fact) holds(in *pb.Instance, def *workflow.Definition) bool {
	switch f.events[0] {
	case Waits:
		return !slices.ContainsFunc(wire.ToLinks(in.GetLinks()), func(l instance.Link) bool { return l.Kind == instance.After && !l.Ended })
	case Completed:
		proof := instance.ProofOf(wire.ToEvidence(in.GetEvidence()), in.GetBase(), in.GetHead())
		switch {
		case def != nil && def.EndsInFailure(f.state):
			f.events = []string{Failed}
		case proof.Unproven():
			f.events = []string{Unproven, Completed}
			f.text = strings.TrimPrefix(f.text+"; unproven: "+proof.Reason, "; ")
		}
	}
	return true
}
