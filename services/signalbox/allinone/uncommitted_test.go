package allinone_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
)

func TestWhatIsInNoCommitIsNamed(t *testing.T) {
	dir := t.TempDir()
	gittest.Run(t, git.New(dir), "init", "-q")
	for _, c := range []struct{ file, says string }{
		{"", ""},
		{"notes", "1 uncommitted change in " + dir + " is not seen"},
		{".signalbox.yaml", "2 uncommitted changes in " + dir + " are not seen; .signalbox.yaml is one, and does not count"},
	} {
		if c.file != "" {
			if err := os.WriteFile(filepath.Join(dir, c.file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := allinone.Uncommitted(t.Context(), dir); c.says == "" && got != "" || !strings.HasPrefix(got, c.says) {
			t.Errorf("it says %q, want %q", got, c.says)
		}
	}
}
