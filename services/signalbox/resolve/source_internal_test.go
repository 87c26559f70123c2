package resolve

import (
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
)

func TestABranchThatSharesItsNameWithATagIsStartedFrom(t *testing.T) {
	g := gittest.Repo(t)
	gittest.Run(t, g, "checkout", "-q", "-B", "trunk")
	gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", "Before")
	gittest.Run(t, g, "tag", "trunk")
	gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", "Begin")
	s, err := openRepository(t.Context(), g.Dir(), "")
	if head := gittest.Run(t, g, "rev-parse", "refs/heads/trunk"); err != nil || s.branch != "trunk" || s.head != head {
		t.Errorf("it starts from %q at %s, %v; want trunk at %s", s.branch, s.head, err, head)
	}
}

// A directory may hold another repository than before.
func TestALogIsOfOneRepository(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	logs, err := allinone.ResolveDirs()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(logs, source{dir: "/widgets"}.key())
	repository := func() source {
		g := gittest.Repo(t)
		gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", t.Name()+g.Dir())
		s, err := openRepository(t.Context(), g.Dir(), "")
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first, second := repository(), repository()
	of := func(s source) string {
		t.Helper()
		s.dir = "/widgets"
		at, err := Command{}.dir(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	if at := of(first); at != dir {
		t.Errorf("the first repository has %s, want %s", at, dir)
	}
	if at := of(second); at == dir || of(second) != at || of(first) != dir {
		t.Errorf("another repository has %s, want one of its own each time", at)
	}
}
