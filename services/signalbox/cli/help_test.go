package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/command"
)

func TestEachCommandHasTwoExamplesThatParse(t *testing.T) {
	t.Chdir(t.TempDir())
	exampleFiles(t)
	shown := examples()
	parser, err := kong.New(new(grammar), groups(), kong.Vars{"version": ""})
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(true) {
		path := command.Path(leaf)
		if len(shown[path]) < 2 {
			t.Errorf("%s has %d examples", path, len(shown[path]))
		}
		for _, line := range shown[path] {
			if !strings.HasPrefix(line, path) {
				t.Errorf("%q is no example of %s", line, path)
			}
			if _, err := service.Parse(new(grammar), service.Call{Name: "signalbox", Args: words(line), Stdout: new(bytes.Buffer),
				Stderr: new(bytes.Buffer)}, groups()); err != nil {
				t.Errorf("signalbox %s: %v", line, err)
			}
		}
		delete(shown, path)
	}
	for path := range shown {
		t.Errorf("%s is no command", path)
	}
}

// exampleFiles makes the files that the examples name, in the working directory.
func exampleFiles(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"plans", "lifecycles", "access", ".signalbox", "backup"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	stories := `{"userStories": [{"id": "S-1", "title": "Say hello", "acceptanceCriteria": ["make greet"], "priority": 1, "status": "pending"}]}`
	for file, text := range map[string]string{
		"bug.md": "# It breaks\n\nAt once.\n", "answer.md": "Q1: yes\n", "plan.md": "- [ ] T-1: Say hello\n",
		"attest.key.pub": "", "change.json": "{}", "plan.yaml": "tasks:\n  - {id: T-1, title: Say hello}\n",
		"prd.json": stories, "plans/prd.json": stories, "token": "secret\n", "fix.sh": "", "write.sh": "", "mine.yaml": "",
	} {
		if err := os.WriteFile(filepath.FromSlash(file), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// words splits a line as a shell does, at blanks outside double quotes.
func words(line string) (all []string) {
	for _, m := range regexp.MustCompile(`(?:[^\s"]|"[^"]*")+`).FindAllString(line, -1) {
		all = append(all, strings.ReplaceAll(m, `"`, ""))
	}
	return all
}
