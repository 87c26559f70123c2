package allinone_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
)

func TestPeopleAreWarnedBeforeThereIsWork(t *testing.T) {
	dir := t.TempDir()
	gittest.Run(t, git.New(dir), "init", "-q")
	for _, c := range []struct {
		file, content string
		says          []string // beginnings
	}{
		{"", "", []string{"no tests found: looked at the root for .signalbox.yaml, go.mod"}},
		{"notes", "", []string{"1 uncommitted change in " + dir + " is not seen", "no tests found"}},
		{".signalbox.yaml", "test: {command: true}\n", []string{
			"2 uncommitted changes in " + dir + " are not seen; .signalbox.yaml is one, and does not count",
		}},
		{".signalbox.yaml", "tests: x\n", []string{"2 uncommitted changes", ".signalbox.yaml:1"}},
	} {
		if c.file != "" {
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := allinone.Warnings(t.Context(), dir)
		for _, text := range got {
			if strings.HasPrefix(text, "no tests found") && !strings.Contains(text, "or, of a story, its acceptance criteria are commands") {
				t.Errorf("with %s it says %q", c.file, text)
			}
		}
		if !slices.EqualFunc(got, c.says, strings.HasPrefix) {
			t.Errorf("with %s it says %q, want %q", c.file, got, c.says)
		}
	}
}
