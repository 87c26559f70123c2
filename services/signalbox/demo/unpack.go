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
	analyst   string
}

// unpackAll writes the assets to dir, and the report and its answer as the requests that post them
// on a forge.
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
	answer, err := asset.ReadFile("asset/answer.md")
	if err != nil {
		return err
	}
	for name, request := range map[string]map[string]string{"issue.json": {"title": title, "body": body}, "answer.json": {"body": string(answer)}} {
		text, err := json.MarshalIndent(request, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), append(text, '\n'), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// unpack writes the assets below dir and makes the repository.
func unpack(ctx context.Context, dir string) (files, error) {
	f := files{filepath.Join(dir, "widgets"), filepath.Join(dir, "developer.sh"), filepath.Join(dir, "tester.sh"), filepath.Join(dir, "analyst.sh")}
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
	for name, file := range map[string]string{"developer.sh": f.developer, "tester.sh": f.tester, "analyst.sh": f.analyst} {
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

// brains are the brains of the demonstration's roles. All others go by rule, and so does the analyst once it has asked.
func (f files) brains() []string {
	return []string{"developer=exec:sh " + f.developer, "tester.creating_tests=exec:sh " + f.tester, "analyst=exec:sh " + f.analyst + ", rules"}
}
