package allinone

import (
	osexec "os/exec"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain/exec"
	"github.com/signalbox/signalbox/pkg/agent/role"
)

// analystsBrain returns the brain of the analyst where none is given and the developer works
// with the coding agent of a preset: that agent. Otherwise it is empty: the rules stay.
func (a Agents) analystsBrain() string {
	specs, err := role.ParseSpecs(a.Brain, "")
	presets, failed := exec.ReadPresets(a.Presets)
	if err != nil || failed != nil { // CheckBrains says so
		return ""
	}
	for who := range specs {
		if name, _, _ := strings.Cut(who, "."); name == "analyst" {
			return ""
		}
	}
	program, isProgram := strings.CutPrefix(specs["developer"], "exec:")
	words := strings.Fields(program)
	if !isProgram || len(words) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(words[0], ",")
	preset, known := presets.Find(name)
	if !known {
		return ""
	}
	if _, err := osexec.LookPath(preset.Program); err != nil { // the developer's brain is refused, by the name that was given
		return ""
	}
	return specs["developer"]
}

// brains is --brain, with what the analyst has by default.
func (a Agents) brains() []string {
	if spec := a.analystsBrain(); spec != "" {
		return append(a.Brain[:len(a.Brain):len(a.Brain)], "analyst="+spec)
	}
	return a.Brain
}

// Analyst describes the brain that the analyst has because the developer has it; empty: it
// has none by default.
func (a Agents) Analyst() string {
	if spec := a.analystsBrain(); spec != "" {
		return spec + ", as the developer; --brain analyst=rules is without"
	}
	return ""
}
