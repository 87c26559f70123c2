package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Check is a piece of evidence that guards may read, such as a gate of merge readiness
// of the story lifecycle.
type Check struct {
	Name    string            `json:"name"`
	Verdict instance.Verdict  `json:"verdict"`
	Commit  string            `json:"commit"`
	Says    string            `json:"says"`           // the reason, or the command and its counts
	Seen    map[string]string `json:"seen"`           // the data that the verdict was made from
	Role    string            `json:"role,omitempty"` // who made it
	Agent   string            `json:"agent,omitempty"`
}

// checks converts evidence.
func checks(all []instance.Evidence) []Check {
	made := make([]Check, len(all))
	for i, e := range all {
		seen := maps.Clone(e.Data)
		delete(seen, "reason")
		made[i] = Check{e.Name, e.EffectiveVerdict(), e.Commit, resultOf(e), seen, e.Role, e.Agent}
	}
	return made
}

// resultOf describes what a piece of evidence says.
func resultOf(e instance.Evidence) string {
	if e.Name == work.Red && e.Command != "" { // it passes if a test fails
		return fmt.Sprintf("%s: %s", map[bool]string{true: "a test fails, and shows the issue", false: "no test fails, so none shows the issue"}[e.OK], e.Command)
	}
	if e.Command != "" {
		return fmt.Sprintf("%s (%d passed, %d failed)", e.Command, e.Passed, len(e.Failed))
	}
	first, _, _ := strings.Cut(strings.TrimSpace(e.Output), "\n")
	return strings.TrimSpace(e.Data["reason"] + " " + first)
}

// checks writes a line for each check, and the data of those that do not pass. It
// marks a verdict on another commit than head.
func (p page) checks(all []Check, head string) {
	wide := 0
	for _, c := range all {
		wide = max(wide, len(c.Name))
	}
	for i, c := range all {
		name := ""
		if i == 0 {
			name = "checks"
		}
		text := fmt.Sprintf("%-7s  %-*s  %s", c.Verdict, wide, c.Name, term.Line(c.Says))
		if c.Commit != "" && c.Commit != head {
			text += " (on " + short(c.Commit) + ")"
		}
		p.field(name, strings.TrimRight(text, " "))
		if c.Verdict == instance.VerdictPass {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(c.Seen)) {
			p.below(term.Faint, fmt.Sprintf("%-7s  %-*s  %s: %s", "", wide, "", key, c.Seen[key]))
		}
	}
}

// apart separates the evidence of commands from that of observations.
func apart(all []instance.Evidence) (ran, seen []instance.Evidence) {
	for _, e := range all {
		if e.Command == "" && len(e.Data) > 0 {
			seen = append(seen, e)
		} else {
			ran = append(ran, e)
		}
	}
	return ran, seen
}
