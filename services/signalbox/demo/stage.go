package demo

import (
	"context"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/signalbox/signalbox/pkg/git"
)

// stage is what the demonstration is played with.
type stage struct {
	repo      string // a git repository with a bug
	developer string // scripts
	tester    string
}

// unpack lays the stage in dir.
func unpack(ctx context.Context, dir string) (stage, error) {
	s := stage{filepath.Join(dir, "stage", "widgets"), filepath.Join(dir, "stage", "developer.sh"), filepath.Join(dir, "stage", "tester.sh")}
	source, err := asset.ReadFile("asset/widgets.txtar")
	if err != nil {
		return s, err
	}
	if err := os.MkdirAll(s.repo, 0o755); err != nil {
		return s, err
	}
	if err := txtar.Write(txtar.Parse(source), s.repo); err != nil {
		return s, err
	}
	for name, file := range map[string]string{"developer.sh": s.developer, "tester.sh": s.tester} {
		script, err := asset.ReadFile("asset/" + name)
		if err == nil {
			err = os.WriteFile(file, script, 0o755)
		}
		if err != nil {
			return s, err
		}
	}
	g := git.New(s.repo).WithIdentity("Ann", "ann@example.com")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "Print the catalogue page by page"}} {
		if _, err := g.Run(ctx, args...); err != nil {
			return s, err
		}
	}
	return s, nil
}
