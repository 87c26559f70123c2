package demo

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/service"
)

// files are the paths of the unpacked assets.
type files struct {
	repo      string // a git repository with a bug
	developer string // scripts
	tester    string
}

// unpackAll writes the assets and the report, as the request that opens it on a forge, to dir.
func unpackAll(ctx context.Context, dir string) error {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return service.Usagef("--unpack %s is not empty: name a new directory", dir)
	}
	if _, err := unpack(ctx, dir); err != nil {
		return err
	}
	title, body, err := report()
	if err != nil {
		return err
	}
	request, err := json.MarshalIndent(map[string]string{"title": title, "body": body}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "issue.json"), append(request, '\n'), 0o600)
}

// unpack writes the assets below dir and makes the repository.
func unpack(ctx context.Context, dir string) (files, error) {
	f := files{filepath.Join(dir, "widgets"), filepath.Join(dir, "developer.sh"), filepath.Join(dir, "tester.sh")}
	source, err := asset.ReadFile("asset/widgets.txtar")
	if err != nil {
		return f, err
	}
	if err := os.MkdirAll(f.repo, 0o700); err != nil {
		return f, err
	}
	if err := txtar.Write(txtar.Parse(source), f.repo); err != nil {
		return f, err
	}
	for name, file := range map[string]string{"developer.sh": f.developer, "tester.sh": f.tester} {
		script, err := asset.ReadFile("asset/" + name)
		if err == nil {
			err = os.WriteFile(file, script, 0o700)
		}
		if err != nil {
			return f, err
		}
	}
	g := git.New(f.repo).WithIdentity("Ann", "ann@example.com")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "Print the catalogue page by page"}} {
		if _, err := g.Run(ctx, args...); err != nil {
			return f, err
		}
	}
	return f, nil
}
