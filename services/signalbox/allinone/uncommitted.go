package allinone

import (
	"context"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

// Uncommitted returns a warning about what lies in the work tree of a repository and is in
// no commit: nobody works on it. It is empty if there is nothing, or no work tree.
func Uncommitted(ctx context.Context, dir string) string {
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
