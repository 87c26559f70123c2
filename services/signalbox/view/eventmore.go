package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// fillMore is fill for the events that not every lifecycle has.
func fillMore(v *Event, e instance.Event) {
	switch e := e.(type) {
	case instance.Handed:
		v.Event, v.Reason = "handed", handed(e)
	case instance.Escalated:
		v.Event, v.Number, v.Role, v.Reason, v.Human = "escalated", e.Number, e.Agent, e.Reason, e.RequiresHuman
	case instance.Resolved:
		v.Event, v.Number, v.Reason = "resolved", e.Number, e.Text
		if e.By != "" {
			v.Actor = e.By
		}
	case instance.Remembered:
		v.Event, v.Vars = "remembered", e.Vars
		var told []string
		for _, name := range slices.Sorted(maps.Keys(e.Vars)) {
			told = append(told, fmt.Sprintf("%s is %q", name, e.Vars[name]))
		}
		v.Reason = strings.Join(told, ", ")
	case instance.ParkedUntil:
		v.Event, v.Until, v.Reason = "parked", e.Until, e.Reason
	case instance.Woken:
		v.Event, v.Reason = "woken", e.Reason
	case instance.TimedOut:
		v.Event, v.Level, v.After = "timed_out", e.Level, e.After.String()
		v.Reason = fmt.Sprintf("%s: %s in %s", e.Level, term.Duration(e.After), e.State)
	case instance.Spawned:
		v.Event, v.Linked, v.Reason = "spawned", e.Instance, strings.TrimSuffix(e.Workflow+" "+e.Instance+": "+e.Reason, ": ")
	case instance.LinkEnded:
		how := "did not end well"
		if e.Well {
			how = "ended well"
		}
		v.Event, v.Linked, v.Reason = "link_ended", e.Instance, fmt.Sprintf("%s %s, in %s", e.Instance, how, e.State)
	case instance.Migrated:
		v.Event, v.Owner, v.Kind, v.Reason = "migrated", e.Owner, string(e.Kind), fmt.Sprintf("from definition %.8s to %.8s: %s", e.From, e.Definition, e.Reason)
	}
}

// handed says what a role has got to.
func handed(e instance.Handed) string {
	var said []string
	if e.Head != "" {
		said = append(said, "the work is at "+e.Head)
	}
	if len(e.Sections) > 0 {
		said = append(said, "written is "+strings.Join(slices.Sorted(maps.Keys(e.Sections)), ", "))
	}
	return strings.Join(said, ", ")
}
