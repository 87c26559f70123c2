// Package plan reads a plan: a file of tasks, the order they come in and what
// each comes after (task lifecycle, planFile). It is Markdown or YAML.
package plan

import (
	"fmt"
	"path"
	"strings"
)

// Plan is a file of tasks.
type Plan struct {
	Title string
	Tasks []Task // in the file's order, without those that are done
}

// Task is one task of a plan.
type Task struct {
	ID          string
	Title       string
	Description string
	After       []string // ids of tasks that have to end well first
	Priority    int      // lower is more urgent: what the file says, or the place in it, from 1
	Line        int      // where the file has it
}

// Parse reads the plan in src. The name, which problems begin with, says by its
// ending whether it is Markdown or YAML. The error joins every *Problem.
func Parse(name string, src []byte) (Plan, error) {
	d := draft{name: name}
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".md", ".markdown":
		d.markdown(src)
	case ".yaml", ".yml":
		d.yaml(src)
	default:
		return Plan{}, fmt.Errorf("%s: a plan is Markdown (.md) or YAML (.yaml)", name)
	}
	d.check()
	if err := d.err(); err != nil {
		return Plan{}, err
	}
	return d.plan(), nil
}

// draft is a plan under way.
type draft struct {
	name     string
	title    string
	items    []item
	problems []*Problem
}

// item is a task as the file has it.
type item struct {
	Task
	given bool // the file gives a priority
	done  bool // it is ticked off
	needs []need
}

// need is an id that a task comes after, and where that is said.
type need struct {
	id   string
	line int
}

// plan leaves out what is done: nothing has to wait for it.
func (d *draft) plan() Plan {
	p, done := Plan{Title: d.title}, map[string]bool{}
	for _, it := range d.items {
		done[it.ID] = it.done
	}
	for i, it := range d.items {
		if it.done {
			continue
		}
		if !it.given {
			it.Priority = i + 1
		}
		for _, n := range it.needs {
			if !done[n.id] {
				it.After = append(it.After, n.id)
			}
		}
		p.Tasks = append(p.Tasks, it.Task)
	}
	return p
}
