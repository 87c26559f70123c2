package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// until is how long a parked stay lasts yet.
func (k Parked) until(env *term.Env) string {
	if k.Until.IsZero() {
		return " until something happens"
	}
	if left := k.Until.Sub(env.Now()); left > 0 {
		return " for " + term.Duration(left) + " more"
	}
	return ""
}

// deadline says how the stay stands to its timeout.
func (in Instance) deadline(env *term.Env) string {
	if in.TimeoutS == 0 || in.Closed != "" {
		return ""
	}
	text := fmt.Sprintf("%s in this state", term.Duration(time.Duration(in.TimeoutS*float64(time.Second))))
	if in.Level != "" {
		text += fmt.Sprintf(", %s was told", in.Level)
	}
	if d := in.NextDeadline; d != nil {
		if left := d.At.Sub(env.Now()); left > 0 {
			text += fmt.Sprintf(", %s in %s", d.Level, term.Duration(left))
		} else {
			text += fmt.Sprintf(", %s is due", d.Level)
		}
	}
	return text
}

func (p page) escalations(all []instance.Escalation) {
	for i, e := range all {
		name := ""
		if i == 0 {
			name = "escalations"
		}
		text := fmt.Sprintf("E%d %s: %s", e.Number, e.Agent, e.Reason)
		switch {
		case e.Resolved:
			text += "\n  resolved by " + e.By + ": " + e.Resolution
		case e.RequiresHuman:
			text += "\n  open: people have to resolve it"
		}
		p.field(name, text)
	}
}

// remembers is the vars, one a line.
func (in Instance) remembers() string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(in.Vars)) {
		lines = append(lines, name+" is "+value(cut(in.Vars[name], 80)))
	}
	return strings.Join(lines, "\n")
}

// value is what something is; nothing is seen as such.
func value(v any) string {
	if v == "" {
		return `""`
	}
	return fmt.Sprint(v)
}

func (in Instance) failures() string {
	var told []string
	for _, state := range slices.Sorted(maps.Keys(in.Failures)) {
		told = append(told, fmt.Sprintf("%s %s in a row", state, times(in.Failures[state])))
	}
	return strings.Join(told, ", ")
}

func (p page) links(all []Link) {
	for i, l := range all {
		name := ""
		if i == 0 {
			name = "links"
		}
		text := map[string]string{"child": "opened ", "after": "comes after "}[l.Kind] + l.Instance
		switch {
		case l.Ended && l.Well:
			text += ", which ended well in " + l.State
		case l.Ended:
			text += ", which did not end well: " + l.State
		}
		p.field(name, text)
	}
}
