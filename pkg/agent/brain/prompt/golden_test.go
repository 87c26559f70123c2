package prompt

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

var update = flag.Bool("update", false, "write the golden files again")

// updating is the command that writes the golden files.
const updating = "go test ./pkg/agent/brain/prompt -update"

// thoughtless are the roles that no brain works for.
var thoughtless = []string{"committer", "git-manager", "shepherd"}

// goldens returns the prompts of the shipped lifecycles by their file, as `prompt show`
// prints them. A lifecycle whose prompt is not that of one before has a file of its own.
// Two more have guidance of the repository: one is a model's, one a role's that is asked.
func goldens(t *testing.T) map[string]string {
	t.Helper()
	defs, err := workflow.Builtins()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, d := range defs {
		for _, state := range d.StateNames() {
			row, _ := d.State(state)
			if row.Owner == "" || slices.Contains(thoughtless, row.Owner) {
				continue
			}
			a := ExampleOf(d, row.Owner, state)
			a.Brief.Guidance, a.Brief.Forbidden = nil, outbound.DefaultRules().Forbidden
			file, text := row.Owner+"."+state, stable(t, Set{}.Render(a))
			if first, is := all[file+".txt"]; is && first != text {
				file += "." + d.Name
			}
			all[file+".txt"] = text
		}
	}
	issue, err := workflow.Builtin("issue")
	if err != nil {
		t.Fatal(err)
	}
	a := ExampleOf(issue, "developer", "implementing")
	all["developer.implementing.model.txt"] = stable(t, Set{}.RenderTools(a))
	a.Question, a.Work = &instance.Question{Number: 7, From: "tester", Text: "Is the order of the numbers kept?"}, workflow.WorkSpec{}
	all["developer.implementing.question.txt"] = stable(t, Set{}.Render(a))
	return all
}

// stable returns a prompt with a word in the place of its random mark.
func stable(t *testing.T, p Prompt) string {
	t.Helper()
	found := mark.FindStringSubmatch(p.Text)
	if found == nil {
		t.Fatalf("nothing is quoted in\n%s", p.Text)
	}
	return strings.ReplaceAll(p.Text, found[1], "MARK")
}

func TestWhatBrainsAreToldIsInTheGoldenFiles(t *testing.T) {
	dir, want := filepath.Join("testdata", "golden"), goldens(t)
	if *update {
		if err := writeGoldens(dir, want); err != nil {
			t.Fatal(err)
		}
	}
	all := differences(t, dir, want)
	for i, d := range all {
		if i == 5 {
			t.Errorf("and %d more", len(all)-i)
			break
		}
		t.Error(d)
	}
}

// writeGoldens makes a directory that has the files and no others.
func writeGoldens(dir string, files map[string]string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// differences says how a directory differs from the files that it should have.
func differences(t *testing.T, dir string, want map[string]string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, is := want[e.Name()]; !is {
			all = append(all, fmt.Sprintf("%s: no role has such a prompt in any state; this removes it: %s", filepath.Join(dir, e.Name()), updating))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		path := filepath.Join(dir, name)
		got, err := os.ReadFile(path)
		switch {
		case err != nil:
			all = append(all, fmt.Sprintf("%v; this writes it: %s", err, updating))
		case string(got) != want[name]:
			all = append(all, fmt.Sprintf("%s: brains are told something else from %s\nif that is meant: %s", path, firstDifference(string(got), want[name]), updating))
		}
	}
	return all
}

// firstDifference names the first line that differs between two texts, and has the first
// of those between what both begin with and what both end with.
func firstDifference(was, is string) string {
	before, after := strings.Split(was, "\n"), strings.Split(is, "\n")
	line := 1
	for len(before) > 0 && len(after) > 0 && before[0] == after[0] {
		before, after, line = before[1:], after[1:], line+1
	}
	for len(before) > 0 && len(after) > 0 && before[len(before)-1] == after[len(after)-1] {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	said := fmt.Sprintf("line %d on", line)
	for _, side := range []struct {
		sign  string
		lines []string
	}{{"-", before}, {"+", after}} {
		for i, l := range side.lines {
			if i == 4 {
				said += fmt.Sprintf("\n%s … %d more", side.sign, len(side.lines)-i)
				break
			}
			said += "\n" + side.sign + l
		}
	}
	return said
}

func TestADifferenceFromTheGoldenFilesIsFound(t *testing.T) {
	files := map[string]string{"a.x.txt": "one\ntwo\nthree\n", "a.y.txt": "one\n"}
	for name, c := range map[string]struct {
		change func(write func(name, text string), remove func(name string))
		want   string // without the name of the directory; empty: nothing differs
	}{
		"none where there is none": {func(func(string, string), func(string)) {}, ""},
		"of a line": {func(write func(name, text string), _ func(string)) { write("a.x.txt", "one\n2\nthree\n") },
			"a.x.txt: brains are told something else from line 2 on\n-2\n+two\nif that is meant: " + updating},
		"of lines that are no longer told": {func(write func(name, text string), _ func(string)) { write("a.y.txt", "one\n1\n2\n3\n4\n5\n6\n") },
			"a.y.txt: brains are told something else from line 2 on\n-1\n-2\n-3\n-4\n- … 2 more\nif that is meant: " + updating},
		"of a file that is not there": {func(_ func(string, string), remove func(string)) { remove("a.y.txt") },
			"a.y.txt: no such file or directory; this writes it: " + updating},
		"of a file that no state has": {func(write func(name, text string), _ func(string)) { write("b.x.txt", "one\n") },
			"b.x.txt: no role has such a prompt in any state; this removes it: " + updating},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "golden")
			if err := writeGoldens(dir, files); err != nil {
				t.Fatal(err)
			}
			var failed error
			c.change(func(name, text string) { failed = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644) },
				func(name string) { failed = os.Remove(filepath.Join(dir, name)) })
			if failed != nil {
				t.Fatal(failed)
			}
			got := strings.TrimPrefix(strings.Join(differences(t, dir, files), "\n"), "open ")
			if got = strings.TrimPrefix(got, dir+string(filepath.Separator)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if err := writeGoldens(dir, files); err != nil || differences(t, dir, files) != nil {
				t.Errorf("after the update: %v, %q", err, differences(t, dir, files))
			}
		})
	}
}
