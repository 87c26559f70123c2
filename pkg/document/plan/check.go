package plan

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

const (
	// MaxTasks is the most a plan may have.
	MaxTasks = 1000
	// MaxTitle is the longest title of a task, in characters.
	MaxTitle = 256
	// MaxSize is the most a plan may have, in bytes.
	MaxSize = 1 << 20
)

// name is what an id looks like.
var name = lazyregexp.New(`^[\p{L}\p{N}][\p{L}\p{N}_.-]*$`)

// check holds the draft to what a plan is: tasks, each once, after tasks that
// there are, none after itself.
func (d *draft) check() {
	if len(d.problems) > 0 && len(d.items) == 0 {
		return
	}
	known, ids := map[string]int{}, []string{}
	for _, it := range d.items {
		switch before, dup := known[it.ID]; {
		case dup:
			d.problem(it.Line, "task %s is there already, in line %d", it.ID, before)
			continue
		case !name.MatchString(it.ID):
			d.problem(it.Line, "%q is no id: want letters, digits, - and _, as in TASK-001", it.ID)
		case strings.TrimSpace(it.Title) == "":
			d.problem(it.Line, "task %s has no title", it.ID)
		case utf8.RuneCountInString(it.Title) > MaxTitle:
			d.problem(it.Line, "the title of task %s has %d characters, want at most %d", it.ID, utf8.RuneCountInString(it.Title), MaxTitle)
		}
		known[it.ID], ids = it.Line, append(ids, it.ID)
	}
	switch open := slices.ContainsFunc(d.items, func(it item) bool { return !it.done }); {
	case len(d.items) == 0:
		d.problem(1, "the plan has no tasks: want sections \"## ID: Title\", or a list of \"- [ ] ID: title\"")
	case !open:
		d.problem(1, "the plan has no open tasks: all are ticked off")
	case len(d.items) > MaxTasks:
		d.problem(1, "the plan has %d tasks, want at most %d", len(d.items), MaxTasks)
	}
	for _, it := range d.items {
		for _, n := range it.needs {
			if _, ok := known[n.id]; ok {
				continue
			}
			meant := workflow.Nearest(n.id, ids)
			if meant != "" {
				meant = "; did you mean " + meant + "?"
			}
			d.problem(n.line, "task %s comes after %s, which the plan does not have%s", it.ID, n.id, meant)
		}
	}
	d.cycle()
}

// cycle finds tasks that wait for each other, and names those of the first ring.
func (d *draft) cycle() {
	const open, done = 1, 2
	state, at := map[string]int{}, map[string]item{}
	for _, it := range d.items {
		at[it.ID] = it
	}
	var path []string
	var visit func(id string) bool
	visit = func(id string) bool {
		switch state[id] {
		case done:
			return false
		case open:
			ring := append(slices.Clone(path[slices.Index(path, id):]), id)
			d.problem(at[id].Line, "these tasks wait for each other: %s", strings.Join(ring, " after "))
			return true
		}
		state[id], path = open, append(path, id)
		for _, n := range at[id].needs {
			if visit(n.id) {
				return true
			}
		}
		state[id], path = done, path[:len(path)-1]
		return false
	}
	for _, it := range d.items {
		if visit(it.ID) {
			return
		}
	}
}
