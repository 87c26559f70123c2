package allinone

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

// Repository returns the root of the git repository that the directory is or lies in. Its
// error names what is wrong and what would be right.
func Repository(ctx context.Context, dir string) (root string, err error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		if owner, name, named := strings.Cut(dir, "/"); named && owner != "" && owner[0] != '.' && name != "" && !strings.Contains(name, "/") {
			return "", errors.New("there is no such directory; a repository of a forge needs --forge-url, such as https://api.github.com/")
		}
		return "", errors.New("there is no such directory")
	}
	g := git.New(dir).WithEnv("GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1")
	if _, err := g.Run(ctx, "rev-parse", "--git-dir"); err != nil {
		if refused := (*git.Error)(nil); errors.As(err, &refused) && !strings.Contains(refused.Stderr, "not a git repository") {
			return "", err
		}
		return "", errors.New("it is not a git repository; `git init` makes it one")
	}
	if root, err = g.Run(ctx, "rev-parse", "--show-toplevel"); err != nil || root == "" { // a bare one
		return dir, nil
	}
	return root, nil
}
