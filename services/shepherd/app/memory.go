package app

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/instance"
)

// number is a var that is a number; what is none is 0.
func number(job agent.Job, name string) int {
	n, _ := strconv.Atoi(job.Vars[name])
	return n
}

// text is a value of the policy.
func text(job agent.Job, name string) string {
	if s, ok := job.Policy[name].(string); ok {
		return s
	}
	return ""
}

// words is a value of the policy that is a list, with spaces or commas between.
func words(job agent.Job, name string) []string {
	return strings.FieldsFunc(text(job, name), func(r rune) bool { return r == ' ' || r == ',' })
}

// yes is a value of the policy that is true or false.
func yes(job agent.Job, name string) bool { return text(job, name) == "true" }

// evidence is the newest of a name.
func evidence(job agent.Job, name string) (ev instance.Evidence, ok bool) {
	for _, e := range job.Evidence {
		if e.Name == name {
			ev, ok = e, true
		}
	}
	return ev, ok
}

// accepted is the run of the acceptance criteria, and whether all passed on the
// commit.
func accepted(job agent.Job, commit string) (instance.Evidence, bool) {
	ev, ok := evidence(job, testrun.Acceptance)
	return ev, ok && ev.OK && ev.Commit == commit
}

// seen are the remarks that were taken into account. Nil says that it was never
// counted: the times of remarks and pushes have to tell.
func seen(job agent.Job) []string {
	var keys []string
	if json.Unmarshal([]byte(job.Vars["seen"]), &keys) != nil {
		return nil
	}
	return keys
}

// listed is a list as a var keeps it; an empty one is not nil.
func listed(keys []string) string {
	out, err := json.Marshal(append([]string{}, keys...))
	if err != nil {
		return "[]" // no list of texts is refused
	}
	return string(out)
}
