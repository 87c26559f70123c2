package pipeline

import (
	"fmt"
	"strconv"

	"github.com/signalbox/signalbox/pkg/engine/work"
)

// owners are the sections that roles write, by name, and whose they are (the
// source's table of agent state updates).
func owners() map[string]string {
	return map[string]string{
		"triage": "triage", "analysis": "analyst", "writer": "writer", "build": "build", "review": "reviewer", "commit": "committer",
	}
}

// sectionOf is the section that a role writes; empty for a role that has none.
func sectionOf(role string) string {
	for section, owner := range owners() {
		if owner == role {
			return section
		}
	}
	return ""
}

// may reports whether a role may change a key outside its section, and whether anything
// comes of it. A change of the engine's own counts is noted and no more.
func may(role, key string) (permitted, heeded bool) {
	switch key {
	case "pipeline.status", "pipeline.blocked_reason", "pipeline.failure_reason":
		return role == "triage" || role == "reviewer" || role == "committer", true
	case "pipeline.current_agent":
		return role == "analyst", false
	case "pipeline.attempt":
		return role == "writer", false
	case "review.feedback_for_writer":
		return role == "build", true
	}
	return false, false
}

// number is a policy's whole number, which assignments have as text; 0: there is none.
func number(a work.Assignment, name string) int {
	n, _ := strconv.Atoi(fmt.Sprint(a.Policy[name]))
	return n
}
