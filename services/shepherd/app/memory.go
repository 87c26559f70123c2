package app

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// number returns a variable that is a number, else 0.
func number(job agent.Job, name string) int {
	n, _ := strconv.Atoi(job.Vars[name])
	return n
}

// text returns a value of the policy.
func text(job agent.Job, name string) string {
	if s, ok := job.Policy[name].(string); ok {
		return s
	}
	return ""
}

// words returns a value of the policy that is a list, separated by spaces or commas.
func words(job agent.Job, name string) []string {
	return strings.FieldsFunc(text(job, name), func(r rune) bool { return r == ' ' || r == ',' })
}

// yes reports whether a value of the policy is true.
func yes(job agent.Job, name string) bool { return text(job, name) == "true" }

// evidence returns the newest evidence of a name.
func evidence(job agent.Job, name string) (ev instance.Evidence, ok bool) {
	for _, e := range job.Evidence {
		if e.Name == name {
			ev, ok = e, true
		}
	}
	return ev, ok
}

// accepted returns the newest run of the acceptance criteria, and whether all passed on
// the commit.
func accepted(job agent.Job, commit string) (instance.Evidence, bool) {
	ev, ok := evidence(job, testrun.Acceptance)
	return ev, ok && ev.OK && ev.Commit == commit
}

// seen returns the keys of the handled remarks, nil if they were never recorded. Then the
// times of remarks and pushes decide.
func seen(job agent.Job) []string {
	var keys []string
	if json.Unmarshal([]byte(job.Vars["seen"]), &keys) != nil {
		return nil
	}
	return keys
}

// listed encodes a list for a variable. An empty list is not nil.
func listed(keys []string) string {
	out, err := json.Marshal(append([]string{}, keys...))
	if err != nil {
		return "[]" // unreachable: texts can always be encoded
	}
	return string(out)
}
