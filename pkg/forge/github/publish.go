package github

import (
	"context"
	"fmt"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/forge"
)

// mostAnnotations is how many one request may add.
const mostAnnotations = 50

// PublishCheck creates a completed run of a check on a commit or, if id is not 0, edits
// that run, and returns its id. It fails with ErrDenied unless the client is an App's.
func (c *Client) PublishCheck(ctx context.Context, repo string, id int64, run forge.NewCheckRun) (int64, error) {
	owner, name, err := split(repo)
	if err != nil {
		return 0, err
	}
	output := &github.CheckRunOutput{Title: &run.Title, Summary: &run.Summary}
	for _, a := range run.Annotations[:min(len(run.Annotations), mostAnnotations)] {
		output.Annotations = append(output.Annotations, &github.CheckRunAnnotation{Path: &a.Path, StartLine: &a.Line, EndLine: &a.Line,
			AnnotationLevel: &a.Level, Title: &a.Title, Message: &a.Message})
	}
	var row *github.CheckRun
	if id == 0 {
		row, _, err = c.api.Checks.CreateCheckRun(ctx, owner, name, github.CreateCheckRunOptions{
			Name: run.Name, HeadSHA: run.SHA, Status: github.String("completed"), Conclusion: &run.Conclusion, Output: output})
	} else {
		row, _, err = c.api.Checks.UpdateCheckRun(ctx, owner, name, id, github.UpdateCheckRunOptions{
			Name: run.Name, Status: github.String("completed"), Conclusion: &run.Conclusion, Output: output})
	}
	if err != nil {
		return 0, explain(ctx, fmt.Sprintf("publish the check %s of %s in %s", run.Name, run.SHA, repo), err)
	}
	return row.GetID(), nil
}
