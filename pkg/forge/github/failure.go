package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/base/lazyregexp"
	"github.com/signalbox/signalbox/pkg/forge"
)

// The limits of a failure.
const (
	maxAnnotations = 50
	maxLog         = 64 << 20 // bytes of a log that are read
	maxTail        = 6 << 10  // bytes of it that are kept
)

// Failure implements forge.Failures. A job of Actions is found by the address of the
// run's details; its log needs the permission to read Actions.
func (c *Client) Failure(ctx context.Context, repo string, run int64) (forge.Failure, error) {
	owner, name, err := split(repo)
	if err != nil {
		return forge.Failure{}, err
	}
	doing := fmt.Sprintf("read check run %d in %s", run, repo)
	found, _, err := c.api.Checks.GetCheckRun(ctx, owner, name, run)
	if err != nil { // one that was deleted, or may not be read, is known by its name alone
		return forge.Failure{}, readable(explain(ctx, doing, err))
	}
	failure := forge.Failure{Summary: strings.TrimSpace(found.GetOutput().GetSummary() + "\n\n" + found.GetOutput().GetText())}
	if found.GetOutput().GetAnnotationsCount() > 0 {
		rows, _, err := c.api.Checks.ListCheckRunAnnotations(ctx, owner, name, run, &github.ListOptions{PerPage: maxAnnotations})
		if err := readable(explain(ctx, doing, err)); err != nil {
			return failure, err
		}
		for _, row := range rows {
			failure.Annotations = append(failure.Annotations, forge.Annotation{
				Path: row.GetPath(), Line: row.GetStartLine(), Level: row.GetAnnotationLevel(), Title: row.GetTitle(), Message: row.GetMessage(),
			})
		}
	}
	if job, ok := jobOf(found.GetDetailsURL()); ok {
		failure.Log, err = c.jobLog(ctx, owner, name, job)
		if err := readable(err); err != nil {
			return failure, err
		}
	}
	return failure, nil
}

// readable drops an error that says that there is nothing for us to read.
func readable(err error) error {
	if errors.Is(err, forge.ErrDenied) || errors.Is(err, forge.ErrNotFound) {
		return nil
	}
	return err
}

// jobAddress is the address of a job of Actions, for people.
var jobAddress = lazyregexp.New(`/actions/runs/\d+/job/(\d+)`)

func jobOf(details string) (int64, bool) {
	found := jobAddress.FindStringSubmatch(details)
	if found == nil {
		return 0, false
	}
	id, err := strconv.ParseInt(found[1], 10, 64)
	return id, err == nil
}

// jobLog reads the end of a job's log. The forge answers with an address of a storage,
// which is asked without the token.
func (c *Client) jobLog(ctx context.Context, owner, name string, job int64) (string, error) {
	doing := fmt.Sprintf("read the log of job %d in %s/%s", job, owner, name)
	at, resp, err := c.api.Actions.GetWorkflowJobLogs(ctx, owner, name, job, 0)
	if resp != nil && resp.StatusCode == http.StatusGone {
		return "", nil // logs are kept for some time only
	}
	if err != nil {
		return "", explain(ctx, doing, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return "", explain(ctx, doing, err)
	}
	answer, err := (&http.Client{Timeout: requestTimeout}).Do(request)
	if err != nil {
		return "", explain(ctx, doing, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return "", nil // the address has ended, or the log is not there yet
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxLog))
	if err != nil {
		return "", explain(ctx, doing, err)
	}
	return logTail(text), nil
}

var (
	logTime   = lazyregexp.New(`(?m)^\x{feff}?\d{4}-\d\d-\d\dT[\d:.]+Z ?`)
	logColour = lazyregexp.New("\x1b\\[[0-9;]*[A-Za-z]")
)

// logTail returns the last lines of a job's log, without times and colours. They end with
// the last error, for what follows it cleans up.
func logTail(text []byte) string {
	if at := bytes.LastIndex(text, []byte("##[error]")); at >= 0 {
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			end = len(text) - at
		}
		text = text[:at+end]
	}
	if len(text) > maxTail {
		text = text[len(text)-maxTail:]
		text = text[bytes.IndexByte(text, '\n')+1:] // the first line is not whole
	}
	tail := logColour.ReplaceAllString(logTime.ReplaceAllString(string(text), ""), "")
	return strings.ToValidUTF8(strings.TrimSpace(tail), "")
}
