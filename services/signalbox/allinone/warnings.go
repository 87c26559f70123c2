package allinone

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/git"
)

// Warnings returns what people should know of a repository before there is work on it, a
// line each.
func Warnings(ctx context.Context, dir string) []string {
	none := func(s string) bool { return s == "" }
	return slices.DeleteFunc([]string{uncommitted(ctx, dir), untested(dir)}, none)
}

// untested returns a warning if it is not known how the repository is tested.
func untested(dir string) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "" // whoever reads it says so
	}
	defer root.Close()
	if _, err = testrun.Detect(root.FS()); err == nil {
		return ""
	}
	return err.Error() + "; without tests there is no pull request, unless the policy require_tests of the lifecycle is false or, of a story, " +
		"its acceptance criteria are commands"
}

// uncommitted returns a warning about what lies in the work tree of a repository and is in
// no commit: nobody works on it. It is empty if there is nothing, or no work tree.
func uncommitted(ctx context.Context, dir string) string {
	status, err := git.New(dir).Run(ctx, "status", "--porcelain")
	if err != nil || strings.TrimSpace(status) == "" {
		return ""
	}
	lines, settings := 0, ""
	for line := range strings.Lines(status) {
		lines++
		if strings.HasSuffix(strings.TrimSpace(line), ".signalbox.yaml") {
			settings = "; .signalbox.yaml is one, and does not count before it is committed"
		}
	}
	changes := "1 uncommitted change in %s is"
	if lines > 1 {
		changes = fmt.Sprint(lines) + " uncommitted changes in %s are"
	}
	return fmt.Sprintf(changes+" not seen%s", dir, settings)
}
