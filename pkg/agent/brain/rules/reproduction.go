package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules/reproduce"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// sureness is the confidence in a test that was made of the report's own words.
const sureness = 0.9

// reproduction writes the test that the report asks for into the work tree. ok is false if
// the report names no call with its right result.
func reproduction(a brain.Assignment, plan testrun.Plan) (r instance.Result, ok bool, err error) {
	root, err := os.OpenRoot(a.Dir)
	if err != nil {
		return r, false, fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	defer root.Close()
	test, ok := reproduce.Find(root.FS(), reported(a.Issue))
	if !ok {
		return r, false, nil
	}
	if err := root.MkdirAll(filepath.Dir(filepath.FromSlash(test.Path)), 0o755); err != nil {
		return r, false, fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	if err := root.WriteFile(filepath.FromSlash(test.Path), []byte(test.Content), 0o644); err != nil {
		return r, false, fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	return instance.Result{
		Status: instance.Success, ConfidenceScore: sureness,
		Summary: fmt.Sprintf("Wrote %s: by the report, %s has to be %s.", test.Name, code(test.Call), code(excerpt(test.Want))),
		Data:    map[string]string{"tests": plan.Command()},
	}, true, nil
}

// reported returns the parts of an issue that a test can be made of.
func reported(issue instance.Issue) reproduce.Report {
	r := reproduce.Report{Number: issue.Number, Title: issue.Title, Body: issue.Body}
	known := func(title string) bool { return len(named(title)) > 0 }
	for _, s := range sections(issue.Body, known) {
		text := s.text
		if s.code != "" {
			text += "\n```\n" + s.code + "```\n"
		}
		for _, e := range named(s.title) {
			switch e {
			case steps:
				r.Steps = strings.TrimSpace(r.Steps + "\n" + text)
			case expected:
				r.Expected = strings.TrimSpace(r.Expected + "\n" + text)
			case actual:
				r.Actual = strings.TrimSpace(r.Actual + "\n" + text)
			}
		}
	}
	return r
}
