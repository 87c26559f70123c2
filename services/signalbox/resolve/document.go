package resolve

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/pkg/base/sanitize"
	"github.com/signalbox/signalbox/pkg/document/pipeline"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

// document returns the lifecycle's document, nil if it has none. It names the original
// issue and the branch in the repository, which has not been pushed.
func (r *run) document(in *pb.Instance, out Outcome) (json.RawMessage, error) {
	if !pipeline.Applies(r.def) {
		return nil, nil
	}
	doc := view.Document(in, r.def)
	if r.issue.Repo != "" {
		doc.Issue.Number, doc.Issue.URL = r.issue.Number, r.issue.URL
		doc.Commit.Branch, doc.Learnings.SessionID = r.renamed(doc.Commit.Branch), r.renamed(doc.Learnings.SessionID)
	} else {
		doc.Issue.URL = ""
	}
	if out.Branch != "" {
		doc.Commit.Branch = out.Branch
	}
	doc.Commit.Pushed, doc.Commit.PRCreated, doc.Commit.PRURL = false, false, nil
	return doc.Encode()
}

// files are the files that a run writes for other programs; an empty name: no file.
type files struct {
	document string // replaced
	summary  string // appended to, in Markdown
}

// forActions returns the files that a job of GitHub Actions reads. A document that is
// not empty wins over its place.
func forActions(document string) files {
	if dir := os.Getenv("GITHUB_WORKSPACE"); document == "" && dir != "" {
		document = filepath.Join(dir, "issue-state.json")
	}
	return files{document, os.Getenv("GITHUB_STEP_SUMMARY")}
}

func (f files) write(document []byte, summary string) error {
	var errs error
	if f.document != "" && document != nil {
		errs = os.WriteFile(f.document, document, 0o644)
	}
	if f.summary == "" {
		return errs
	}
	to, err := os.OpenFile(f.summary, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = to.WriteString(summary)
		err = errors.Join(err, to.Close())
	}
	return errors.Join(errs, err)
}

// markdown returns a Markdown summary of the run.
func markdown(issue instance.Issue, in *pb.Instance, out Outcome) string {
	var b strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	cell := sanitize.Cell
	add("## %s\n", sanitize.MarkdownLine(issue.Title))
	add("| | |\n|---|---|")
	add("| lifecycle | %s |", out.Workflow)
	add("| state | **%s** |", out.State)
	if out.Reason != "" {
		add("| reason | %s |", cell(out.Reason))
	}
	if out.Branch != "" {
		add("| branch | %s |", sanitize.CodeCell(out.Branch))
	}
	if t := out.Tests; t != nil {
		how := fmt.Sprintf("%d passed", t.Passed)
		if !t.OK {
			how = fmt.Sprintf("%d passed, %d failed", t.Passed, len(t.Failed))
		}
		add("| tests | %s: %s |", sanitize.CodeCell(t.Command), how)
	}
	if last, _ := ending(proofOf(in), ""); last != "" {
		add("| proof | %s |", cell(last))
	}
	add("| moves | %d |\n", out.Iterations)
	if out.Branch == "" {
		if said := obstacle(in); said != "" {
			add("%s\n", sanitize.Quote(said))
		}
		for _, q := range openQuestions(in) {
			add("- Q%d: %s", q.GetNumber(), sanitize.MarkdownLine(q.GetText()))
		}
	}
	for _, c := range out.Commits {
		add("- `%.12s` %s", c.ID, sanitize.MarkdownLine(c.Subject))
	}
	return b.String() + "\n"
}
