package resolve

import (
	"testing"

	"github.com/signalbox/signalbox/pkg/git/gittest"
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
