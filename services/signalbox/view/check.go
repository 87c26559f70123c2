package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// Check is what was seen last of one thing that guards may read, such as a gate
// of merge readiness (story lifecycle).
type Check struct {
	Name    string            `json:"name"`
	Verdict instance.Verdict  `json:"verdict"`
	Commit  string            `json:"commit"`
	Says    string            `json:"says"` // why, or the command and what it counted
	Seen    map[string]string `json:"seen"` // the snapshot it was made from
}

func checks(all []instance.Evidence) []Check {
	made := make([]Check, len(all))
	for i, e := range all {
		seen := maps.Clone(e.Data)
		delete(seen, "reason")
		made[i] = Check{e.Name, e.EffectiveVerdict(), e.Commit, says(e), seen}
	}
	return made
}

func says(e instance.Evidence) string {
	if e.Command != "" {
		return fmt.Sprintf("%s (%d passed, %d failed)", e.Command, e.Passed, len(e.Failed))
	}
	first, _, _ := strings.Cut(strings.TrimSpace(e.Output), "\n")
	return strings.TrimSpace(e.Data["reason"] + " " + first)
}

// checks writes one line a check, with what it saw below one that does not pass.
// A verdict on another commit than head is marked as one.
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

// apart tells the checks that a command made from those that a look did.
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
