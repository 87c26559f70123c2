package pipelinerole

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/agent/testrun"
	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/document/pipeline"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// Brief analyses an issue for the writer. It repeats what the report asks for and forbids,
// finds the files it names, and says which test is needed. It blocks where the report lacks
// what any change would rest on, and asks for that (pipeline lifecycle, analyst).
type Brief struct{}

//go:embed brief.md
var briefText string

// enough is the confidence in a report above which a brief is written. It needs what
// happens and what should, or what is wanted and one thing more.
const enough = 0.5

// Work implements brain.Brain.
func (Brief) Work(_ context.Context, a work.Assignment) (work.Outcome, error) {
	if a.Question != nil {
		return rules.CannotAnswer(a), nil
	}
	doc := pipeline.OfAssignment(a)
	w := rules.Weigh(a)
	r := instance.Result{Status: instance.Success, ConfidenceScore: w.Confidence, Answers: rules.PM{}.Answers(a)}
	if why := w.ForPeople(); why != "" {
		r.Status, r.Summary = instance.Blocked, why
		return wrote(r, "analysis", doc.Analysis)
	}
	if w.Confidence < rules.Number(a, "confidence_threshold", enough) {
		r.Status, r.Summary, r.Questions = instance.Blocked, "unclear requirements: missing are "+rules.List(w.Lacks), w.Questions
		return wrote(r, "analysis", doc.Analysis)
	}
	s := doc.Analysis
	s.Completed = true
	s.MustDo = append(tasks(a.Issue), joined(a.Issue.Title))
	s.MustNotDo = prohibitions(a)
	if err := survey(a, &s); err != nil {
		return work.Outcome{}, err
	}
	s.TestRequirement.Description = fmt.Sprintf("A test that fails without the change: %s", joined(a.Issue.Title))
	switch text := a.Issue.Title + "\n" + a.Issue.Body; {
	case failing.MatchString(text):
		s.TestRequirement.Type, s.TestRequirement.Description = "existing", "The test that fails by the report"
	case passing.MatchString(text):
		s.TestRequirement.Type, s.TestRequirement.Description = "existing", "The tests that the report wants to pass"
	}
	s.Brief = rules.Fill("brief.md", briefText, map[string]any{"Issue": a.Issue, "Said": rules.Said(a), "Analysis": s, "Type": doc.Issue.Type})
	r.Summary = w.String()
	return wrote(r, "analysis", s)
}

// tasks are the items of the report's check list.
func tasks(issue instance.Issue) (all []string) {
	for _, m := range checkbox.FindAllStringSubmatch(issue.Body, -1) {
		all = append(all, joined(m[1]))
	}
	return all
}

var (
	checkbox = lazyregexp.New(`(?m)^\s*[-*] \[ \] +(.+)$`)
	forbids  = lazyregexp.New(`(?i)\b(do not|don.?t|must not|mustn.?t|never|leave|keep)\b.*\b(modify|touch|change|edit|delete|remove|rename|rewrite|refactor|add|break|alone|unchanged|untouched)\b`)
	failing  = lazyregexp.New(`(?i)\btests?\b[^.\n]*\bfail(s|ed|ing)?\b|\bfailing\b[^.\n]*\btests?\b`)
	passing  = lazyregexp.New(`(?i)\b(done|fixed|finished|accepted) (when|once|if)\b[\s:]*(all )?(of )?(the )?(existing )?tests? (pass|passes|succeed|are green)\b`)
	paths    = lazyregexp.New(`[\w./-]*[\w-]\.[A-Za-z]\w{0,9}\b|[\w.-]+(?:/[\w.-]+)+`)
)

// prohibitions are the sentences in which the report, or a person since, says what
// must not be done.
func prohibitions(a work.Assignment) (all []string) {
	for _, text := range append([]string{a.Issue.Body}, rules.Said(a)...) {
		for line := range strings.Lines(text) {
			for sentence := range strings.SplitSeq(strings.TrimLeft(strings.TrimSpace(line), "-*> "), ". ") {
				if forbids.MatchString(sentence) && !slices.Contains(all, sentence) {
					all = append(all, strings.TrimSuffix(strings.TrimSpace(sentence), "."))
				}
			}
		}
	}
	return all
}

// survey looks at the code: which files the report names, and how it is tested.
func survey(a work.Assignment, s *pipeline.Analysis) error {
	if a.Dir == "" {
		return nil
	}
	root, err := os.OpenRoot(a.Dir)
	if err != nil {
		return fmt.Errorf("%w: %w", brain.ErrInfrastructure, err)
	}
	defer root.Close()
	s.Files = slices.DeleteFunc(mentioned(root.FS(), a.Issue.Title+"\n"+a.Issue.Body), func(f pipeline.File) bool {
		return slices.ContainsFunc(s.MustNotDo, func(said string) bool {
			return pipeline.Forbids(said, work.FileChange{Path: f.Path, Status: "M"})
		})
	})
	plan, err := testrun.Detect(root.FS())
	switch {
	case errors.Is(err, testrun.ErrNoTests):
		s.Patterns = append(s.Patterns, "There are no tests yet, and no way to run them is configured.")
	case err != nil:
		s.Patterns = append(s.Patterns, "The tests could not be found: "+err.Error())
	default:
		s.Patterns = append(s.Patterns, fmt.Sprintf("Tests are run by `%s` (%s).", plan.Command(), plan.Source))
	}
	for _, f := range s.Files {
		s.TestRequirement.Location = cmp.Or(s.TestRequirement.Location, beside(root.FS(), f.Path))
	}
	return nil
}

// Bounds on the files of a tree that are looked at, and on those listed.
const (
	maxSeen  = 50_000
	maxFiles = 20
)

// mentioned are the files of the tree that a text names, by path or by name alone.
func mentioned(tree fs.FS, text string) (found []pipeline.File) {
	words := paths.FindAllString(text, -1)
	if len(words) == 0 {
		return nil
	}
	seen := 0
	_ = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && (d.Name() == ".git" || rules.Generated(name+"/")) {
				return fs.SkipDir
			}
			return nil
		}
		if seen++; seen > maxSeen || len(found) >= maxFiles {
			return fs.SkipAll
		}
		if slices.ContainsFunc(words, func(w string) bool {
			return w == name || w == path.Base(name) || strings.HasSuffix(name, "/"+strings.TrimPrefix(w, "./"))
		}) {
			found = append(found, pipeline.File{Path: name, Purpose: "named in the report", Action: "modify"})
		}
		return nil
	})
	return found
}

// beside is the file that has the tests of another, if there is one of the usual names.
func beside(tree fs.FS, name string) string {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	dir, base := path.Split(stem)
	for _, test := range []string{
		stem + "_test" + ext, stem + ".test" + ext, stem + ".spec" + ext, dir + "test_" + base + ext,
		"tests/test_" + base + ext, "test/" + base + ".test" + ext, "tests/" + base + ".test" + ext,
	} {
		if _, err := fs.Stat(tree, test); err == nil {
			return test
		}
	}
	return ""
}

// joined is a text on one line.
func joined(text string) string { return strings.Join(strings.Fields(text), " ") }
