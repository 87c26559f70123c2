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
)

func TestEachCommandHasTwoExamplesThatParse(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"plans", "lifecycles", "access", ".signalbox", "backup"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"bug.md", "answer.md", "plan.md", "plan.yaml", "prd.json", "plans/prd.json", "fix.sh", "write.sh", "mine.yaml"} {
		if err := os.WriteFile(filepath.FromSlash(file), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	shown := examples()
	parser, err := kong.New(new(grammar), groups(), kong.Vars{"version": ""})
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(true) {
		path := commandPath(leaf)
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

// words splits a line as a shell does, at blanks outside double quotes.
func words(line string) (all []string) {
	for _, m := range regexp.MustCompile(`(?:[^\s"]|"[^"]*")+`).FindAllString(line, -1) {
		all = append(all, strings.ReplaceAll(m, `"`, ""))
	}
	return all
}
