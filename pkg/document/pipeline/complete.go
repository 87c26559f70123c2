package pipeline

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/work"
)

// Complete makes a result what the lifecycle asks of its role. The role's section is there,
// however little the brain wrote of it. The variables that rules read say the same. Observed
// facts go before the brain's statements: files is what the work changes, and the
// result's evidence what was checked. An error, which wraps ErrInvalid, says what the brain
// owes.
func Complete(a work.Assignment, files []work.FileChange, r instance.Result) (instance.Result, error) {
	section := sectionOf(a.Role)
	if section == "" || a.Question != nil || !slices.Contains(a.Writes, section) {
		return r, nil
	}
	doc := OfAssignment(a)
	keys := map[string]json.RawMessage{}
	if text := r.Sections[section]; text != "" && json.Unmarshal([]byte(text), &keys) != nil {
		return r, fmt.Errorf("%w: section %s is not an object", ErrInvalid, section)
	}
	whole, err := doc.over(section, keys)
	if err != nil {
		return r, err
	}
	c := completion{a: a, doc: doc, files: files, r: &r, wrote: keys}
	switch s := whole.(type) {
	case Triage:
		c.triage(s)
	case Analysis:
		err = c.analysis(s)
	case Writer:
		c.writer(s)
	case Build:
		c.build(s)
	case Review:
		c.review(s)
	}
	return r, err
}

// completion is one Complete under way.
type completion struct {
	a     work.Assignment
	doc   Document // before
	files []work.FileChange
	r     *instance.Result
	wrote map[string]json.RawMessage // keys of the section that the brain wrote
}

func (c completion) success() bool { return c.r.Status == instance.Success }

func (c completion) put(section string, value any) {
	sections := map[string]string{}
	maps.Copy(sections, c.r.Sections)
	sections[section] = string(encode(value))
	c.r.Sections = sections
}

// remember sets a variable of the lifecycle.
func (c completion) remember(name, value string) {
	data := map[string]string{}
	maps.Copy(data, c.r.Data)
	data[name] = value
	c.r.Data = data
}

func (c completion) summary(text string) {
	if strings.TrimSpace(c.r.Summary) == "" {
		c.r.Summary = strings.TrimSpace(text)
	}
}

func (c completion) triage(s Triage) {
	s.Completed = c.success()
	if _, said := c.wrote["should_proceed"]; !said && c.r.Data["should_proceed"] == "false" {
		s.ShouldProceed = false
	}
	if s.ShouldProceed {
		s.RejectionReason = nil
		c.summary(s.Scope + ", " + s.Complexity)
	} else {
		if text(s.RejectionReason) == "" && c.r.Summary != "" {
			s.RejectionReason = &c.r.Summary
		}
		c.r.Summary = text(s.RejectionReason)
	}
	c.remember("should_proceed", fmt.Sprint(s.ShouldProceed))
	c.put("triage", s)
}

func (c completion) analysis(s Analysis) error {
	s.Completed = c.success()
	if strings.TrimSpace(s.Brief) == "" {
		s.Brief = strings.TrimSpace(c.r.Summary)
	}
	t := &s.TestRequirement
	vague := t.Required && t.Description == "" && t.Location == ""
	switch {
	case !c.success():
	case s.Brief == "":
		return fmt.Errorf("%w: analysis.brief is missing", ErrInvalid)
	case vague && c.wrote["test_requirement"] != nil:
		return fmt.Errorf("%w: analysis.test_requirement asks for a test and names neither its place nor its subject", ErrInvalid)
	case vague:
		t.Description = "a test that fails without the change"
	}
	c.summary(s.Brief)
	c.put("analysis", s)
	return nil
}

func (c completion) writer(s Writer) {
	s.Completed, s.Attempt, s.PreviousFeedback = c.success(), c.doc.Pipeline.Attempt, c.doc.Writer.PreviousFeedback
	if _, said := c.wrote["summary"]; !said || strings.TrimSpace(s.Summary) == "" {
		s.Summary = strings.TrimSpace(c.r.Summary)
	}
	line, _, _ := strings.Cut(s.Summary, "\n")
	s.TestWritten, s.TestFile = false, ""
	for _, f := range c.files {
		if !slices.ContainsFunc(s.Changes, func(have Change) bool { return have.File == f.Path }) {
			s.Changes = append(s.Changes, Change{f.Path, line})
		}
		if isTest(f) && !s.TestWritten {
			s.TestWritten, s.TestFile = true, f.Path
		}
	}
	c.summary(s.Summary)
	c.put("writer", s)
}

// review makes verdict, feedback and status agree: a judgement in one of them
// counts for all.
func (c completion) review(s Review) {
	if _, said := c.wrote["verdict"]; !said {
		s.Verdict = NeedsInfo
		switch said := Verdict(c.r.Data["verdict"]); {
		case said == Approved || said == Rejected || said == NeedsInfo:
			s.Verdict = said
		case c.r.Status == instance.Failure:
			s.Verdict = Rejected
		case c.success() && len(c.r.IssuesFound) == 0:
			s.Verdict = Approved
		}
	}
	fresh := text(s.FeedbackForWriter) != "" && text(s.FeedbackForWriter) != text(c.doc.Review.FeedbackForWriter)
	switch {
	case s.Verdict == Approved && !fresh:
		s.FeedbackForWriter = nil
	case s.Verdict == Rejected && !fresh:
		s.FeedbackForWriter = c.feedback(s)
	}
	if s.Verdict == Approved && c.doc.testMissing() && c.a.Vars["test_missing"] != "false" { // the build saw one in a file of the product
		issue := "The analysis requires a test and the change has none: " + c.doc.Analysis.TestRequirement.wanted()
		s.Findings.Issues = append(s.Findings.Issues, Finding{Issue: issue, Severity: "major"})
		s.Verdict, s.FeedbackForWriter = Rejected, &issue
		c.r.Summary = "Rejected: " + issue
	}
	s.Completed = true
	c.summary(gist(s))
	c.remember("verdict", string(s.Verdict))
	c.put("review", s)
}

// feedback is the text for the writer where the reviewer wrote none.
func (c completion) feedback(s Review) *string {
	lines := []string{strings.TrimSpace(c.r.Summary)}
	for _, f := range s.Findings.Issues {
		lines = append(lines, fmt.Sprintf("- %s:%d: %s (%s)", f.File, f.Line, f.Issue, f.Severity))
	}
	for _, issue := range c.r.IssuesFound {
		lines = append(lines, "- "+issue)
	}
	said := strings.TrimSpace(strings.Join(lines, "\n"))
	if said == "" {
		said = "The reviewer rejected the change and did not say why."
	}
	return &said
}
