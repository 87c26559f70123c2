package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/document/plan"
)

// told is a plan in short: a line a task.
func told(p plan.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", p.Title)
	for _, t := range p.Tasks {
		fmt.Fprintf(&b, "%d %s: %s after %v at %d: %q\n", t.Line, t.ID, t.Title, t.After, t.Priority, t.Description)
	}
	return b.String()
}

func TestAPlanIsReadFromSectionsAListOrYAML(t *testing.T) {
	for name, c := range map[string]struct{ file, src, want string }{
		"sections": {"plan.md", "# Greetings\n\nWhy.\n\n## API-1: Say hello\n\nTo `all`.\n\n### How\n\n```\n## NOT: a task\nPriority: 9\n```\n\n" +
			"## API-2: Say it *louder*\n\nDepends on: API-1\nPriority: 1\n\nMuch.\n\n## Notes\n\nPriority: none of a task.\n",
			"Greetings\n" +
				"5 API-1: Say hello after [] at 1: \"To `all`.\\n\\n### How\\n\\n```\\n## NOT: a task\\nPriority: 9\\n```\"\n" +
				"16 API-2: Say it *louder* after [API-1] at 1: \"Much.\"\n"},
		"what a section says in a list, in bold, and with nothing to wait for": {"plan.md",
			"## a: A\n\n- **Depends on:** none\n- **Priority:** 7\n- more\n\nb: B\n----\n\n*Depends on*: `a`.\n",
			"\n1 a: A after [] at 7: \"- more\"\n7 b: B after [a] at 2: \"\"\n"},
		"a list": {"PLAN.MD", "Plan\n====\n\n- [x] a: done\n- [ ] b: do (after a)\n- [ ] x-1: then (after a, b)\n\n  Because.\n\n      code\n- no task\n* [ ] d: last (after b and x-1)\n",
			"Plan\n5 b: do after [] at 2: \"\"\n6 x-1: then after [b] at 3: \"Because.\\n\\n    code\"\n12 d: last after [b x-1] at 4: \"\"\n"},
		"YAML": {"plan.yaml", "title: T\ntasks:\n  - id: a\n    title: A\n    description: |\n      One.\n      Two.\n  - {id: b, title: B, depends_on: [a], priority: 0}\n",
			"T\n3 a: A after [] at 1: \"One.\\nTwo.\"\n8 b: B after [a] at 0: \"\"\n"},
		"YAML as Windows writes it":    {"plan.yaml", "\ufefftitle: T\r\ntasks:\r\n  - {id: a, title: A}\r\n", "T\n3 a: A after [] at 1: \"\"\n"},
		"lines that end as on Windows": {"plan.md", "\ufeff# T\r\n\r\n## a: A\r\n\r\nText.\r\n", "T\n3 a: A after [] at 1: \"Text.\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := plan.Parse(c.file, []byte(c.src))
			if got := told(p); err != nil || got != c.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, c.want)
			}
		})
	}
}

func TestWhatIsWrongWithAPlanIsToldWithItsLine(t *testing.T) {
	for name, c := range map[string]struct{ file, src, want string }{
		"empty":              {"plan.md", "# Nothing\n", "plan.md:1: the plan has no tasks"},
		"empty YAML":         {"plan.yaml", "", "plan.yaml:1: the plan has no tasks"},
		"all done":           {"plan.md", "- [x] a: A\n", "plan.md:1: the plan has no open tasks"},
		"twice":              {"plan.md", "## a: A\n\n## a: B\n", "plan.md:3: task a is there already, in line 1"},
		"unknown":            {"plan.md", "## task-1: A\n\n## b: B\n\nx\nDepends on: tsak-1\n", "plan.md:6: task b comes after tsak-1, which the plan does not have; did you mean task-1?"},
		"unknown in YAML":    {"plan.yml", "tasks:\n- id: a\n  title: A\n  depends_on:\n  - z\n", "plan.yml:5: task a comes after z, which the plan does not have"},
		"after itself":       {"plan.md", "- [ ] a: A (after a)\n", "plan.md:1: these tasks wait for each other: a after a"},
		"a ring":             {"plan.md", "- [ ] z: Z (after c)\n- [ ] a: A (after b)\n- [ ] b: B (after c)\n- [ ] c: C (after a)\n", "plan.md:4: these tasks wait for each other: c after a after b after c"},
		"no name":            {"plan.md", "- [ ] tidy up\n", `plan.md:1: "tidy up" names no task`},
		"no id":              {"plan.yaml", "tasks:\n  - title: A\n", `plan.yaml:2: "" is no id`},
		"a bad id":           {"plan.yaml", "tasks:\n  - {id: a/b, title: A}\n", `plan.yaml:2: "a/b" is no id`},
		"no title":           {"plan.yaml", "tasks:\n  - id: a\n", "plan.yaml:2: task a has no title"},
		"no number":          {"plan.md", "## a: A\n\nPriority: high\n", `plan.md:3: task a: priority "high" is no number`},
		"a field of no plan": {"plan.yaml", "tasks:\n  - id: a\n    titel: A\n", `plan.yaml:3: unknown field "titel"`},
		"no YAML":            {"plan.yaml", "tasks: [\n", "plan.yaml:"},
		"another file":       {"plan.txt", "x", "plan.txt: a plan is Markdown (.md) or YAML (.yaml)"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := plan.Parse(c.file, []byte(c.src))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || len(p.Tasks) > 0 {
				t.Errorf("got %v\nand %v\nwant %s", err, p, c.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("# T\n\n## a: A\n\n- Depends on: b\n\n## b: B\n")
	f.Add("- [ ] a: A (after b)\n\n  ```\n  x\n- [ ] b: B\n")
	f.Add("tasks:\n- {id: a, title: A, depends_on: [b]}\n- {id: b, title: B}\n")
	f.Fuzz(func(t *testing.T, src string) {
		for _, file := range []string{"p.md", "p.yaml"} {
			p, err := plan.Parse(file, []byte(src))
			if err == nil && len(p.Tasks) == 0 {
				t.Errorf("%s of %q: no tasks and no problem", file, src)
			}
			for _, task := range p.Tasks {
				if task.ID == "" || task.Title == "" || task.Line < 1 || task.Line > 1+strings.Count(src, "\n") {
					t.Errorf("%s of %q: %+v", file, src, task)
				}
				if slices.Contains(task.After, task.ID) {
					t.Errorf("%s of %q: %s waits for itself", file, src, task.ID)
				}
			}
		}
	})
}
