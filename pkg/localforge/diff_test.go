package localforge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/git/gittest"
)

func TestRenamedAndBinaryFilesAreListedAsWhatTheyAre(t *testing.T) {
	w := newEnv(t)
	rob, work := w.client(t, robToken), w.clone(t, robToken)
	gittest.Run(t, work, "checkout", "-q", "-b", "topic")
	gittest.Run(t, work, "mv", "README.md", "Read me, please.md")
	StoreXWrite(t, work, "data.bin", "\x00\x01\x02")
	StoreXWrite(t, work, "odd\nname", "diff --git a/x b/x\n")
	gittest.Run(t, work, "add", ".")
	gittest.Run(t, work, "commit", "-q", "-m", "Move")
	gittest.Run(t, work, "push", "-q", "origin", "topic")
	_, _, err := rob.PullRequests.Create(t.Context(), owner, name, &github.NewPullRequest{Title: github.String("x"), Head: github.String("topic"), Base: github.String("main")})
	must(t, err)
	files, _, err := rob.PullRequests.ListFiles(t.Context(), owner, name, 1, nil)
	must(t, err)
	var got []string
	for _, f := range files {
		got = append(got, fmt.Sprintf("%s %q <%s> +%d %q", f.GetStatus(), f.GetFilename(), f.GetPreviousFilename(), f.GetAdditions(), f.GetPatch()))
	}
	want := []string{
		`renamed "Read me, please.md" <README.md> +0 ""`,
		`added "data.bin" <> +0 ""`,
		`added "odd\nname" <> +1 "@@ -0,0 +1 @@\n+diff --git a/x b/x"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("files = %s", strings.Join(got, "\n"))
	}
}
