package view

import (
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// proof writes whether tests show the change to be a solution, and how the tests of the
// change differ from those of the base.
func (p page) proof(proof instance.Proof) {
	text := proof.Sentence()
	if text == "" {
		return
	}
	p.field("proof", text)
	for _, line := range differences(proof.Judgement) {
		p.below(term.Wait, line)
	}
}

// Differences lists how the tests of the change differ from those of the base, a kind a line.
func (in Instance) Differences() []string { return differences(in.proof.Judgement) }

// differences lists how the tests of a change differ from those of the base, a kind a line.
func differences(j verdict.Judgement) (lines []string) {
	for _, kind := range []struct {
		name  string
		names verdict.Names
	}{
		{"broken by the change", j.Broken},
		{"red for the issue, and not green", j.StillRed},
		{"flaky by the change", j.MadeFlaky},
		{"red before, and green only because the test was changed", j.Rewritten},
		{"gone", j.Gone},
		{"newly skipped", j.NewlySkipped},
		{"failed before the change, too", j.BaseFailures},
	} {
		if kind.names.Len() > 0 {
			lines = append(lines, kind.name+": "+namesOf(kind.names))
		}
	}
	for _, f := range j.Flaky {
		lines = append(lines, "flaky: "+f.Name)
	}
	for _, a := range j.Accepted {
		lines = append(lines, fmt.Sprintf("%s: %s accepted its change", a.Name, a.By))
	}
	return append(lines, j.Findings...)
}

// namesOf returns at most five names, and how many more there are.
func namesOf(n verdict.Names) string {
	const most = 5
	shown := n.Names[:min(len(n.Names), most)]
	text := strings.Join(shown, ", ")
	if more := n.Len() - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
