package pipelinerole

import (
	"context"
	"fmt"
	"strings"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/document/pipeline"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// Reviewer reviews what the Navigator does, and holds the change to the analysis as far as
// that can be seen. The test it asks for has to be there (pipeline lifecycle, reviewer). It
// approves what it finds nothing in.
type Reviewer struct{}

// Work implements brain.Brain.
func (Reviewer) Work(ctx context.Context, a work.Assignment) (work.Outcome, error) {
	out, err := rules.Navigator{}.Work(ctx, a)
	if err != nil || a.Question != nil || out.Result.Status == instance.Blocked {
		return out, err
	}
	doc := pipeline.OfAssignment(a)
	s := doc.Review
	s.Completed, s.Verdict, s.Findings, s.FeedbackForWriter = true, pipeline.Approved, pipeline.Findings{}, nil
	found := out.Result.IssuesFound
	if t := doc.Analysis.TestRequirement; t.Required && t.Type != "existing" && !doc.Writer.TestWritten {
		found = append(found, "the analysis asks for a test and the change has none: "+
			rules.Sentence(t.Description)+" A report that names a failing test needs no other.")
	}
	for _, issue := range found {
		file, _, _ := strings.Cut(issue, " ")
		if !strings.ContainsAny(file, "./") {
			file = ""
		}
		s.Findings.Issues = append(s.Findings.Issues, pipeline.Finding{File: file, Issue: issue, Severity: "major"})
	}
	if doc.Build.TestsPassed {
		s.Findings.Good = append(s.Findings.Good, "The repository's checks pass.")
	}
	if doc.Writer.TestWritten {
		s.Findings.Good = append(s.Findings.Good, fmt.Sprintf("It has a test, %s.", doc.Writer.TestFile))
	}
	for _, must := range doc.Analysis.MustNotDo {
		out.Notes = append(out.Notes, instance.NoteEntry{
			Kind: "not_reviewed", Text: "Rules see in the names of files whether this was respected, and no more: " + must,
		})
	}
	r := out.Result
	r.Status, r.IssuesFound = instance.Success, nil
	if len(found) > 0 {
		said := "The review found:\n\n- " + strings.Join(found, "\n- ")
		s.Verdict, s.FeedbackForWriter = pipeline.Rejected, &said
		r.Summary = rules.Sentence("Rejected: " + strings.Join(found, "; "))
	}
	reviewed, err := wrote(r, "review", s)
	reviewed.Notes = out.Notes
	return reviewed, err
}
