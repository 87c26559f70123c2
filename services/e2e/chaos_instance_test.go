package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/forge"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// drivenInstance is one instance and the people who answer for it by script.
type drivenInstance struct {
	scenario
	*chaosEnv
	client *client.Client
	repo   string
	id     string
	number int             // of its issue; 0: none
	done   map[string]bool // occasions that people have responded to
}

// openInstance opens the n-th instance, on the forge or by command.
func (e *chaosEnv) openInstance(ctx context.Context, c *client.Client, n int, k scenario) (*drivenInstance, error) {
	l := &drivenInstance{scenario: k, chaosEnv: e, client: c, done: map[string]bool{}}
	title := fmt.Sprintf("The answer is %s, which makes number %d", k.behaviour, n)
	body, labels := completeReport, []string(nil)
	switch {
	case k.vague:
		body = vagueReport
	case k.behaviour == "unwanted":
		labels = []string{"question"}
	}
	if k.behaviour == "terse" {
		title, body = fmt.Sprintf("Terse %d", n), ""
	}
	switch k.lifecycle {
	case "story", "task":
		l.id, l.repo = fmt.Sprintf("%s-%d", k.lifecycle, n), repoOf("pipeline")
		if k.lifecycle == "story" {
			l.repo = repoOf("issue")
		}
		_, err := c.OpenWith(ctx, "", l.id,
			&pb.Open{Workflow: k.lifecycle, Issue: wire.Issue(instance.Issue{Repo: l.repo, Title: title, Body: body})})
		return l, err
	}
	l.repo = repoOf(k.lifecycle)
	issue, err := e.forge.ann.CreateIssue(ctx, l.repo, forge.NewIssue{Title: title, Body: body, Labels: labels})
	l.id, l.number = fmt.Sprintf("%s/%d", l.repo, issue.Number), issue.Number
	return l, err
}

// driveAll responds for people until the instance and those linked to it have
// ended.
func (l *drivenInstance) driveAll(ctx context.Context) error {
	if err := l.drive(ctx); err != nil {
		return err
	}
	for _, link := range l.log.get(l.id).Links {
		next := *l
		next.scenario, next.id, next.done = scenario{lifecycle: link.Workflow, behaviour: "plain", wantState: "merged"}, link.Instance,
			map[string]bool{}
		if err := next.driveAll(ctx); err != nil {
			return fmt.Errorf("%s that follows: %w", link.Instance, err)
		}
		if end := l.log.get(link.Instance); end.State != next.wantState {
			return fmt.Errorf("%s that follows ended in %s (%s), want %s", link.Instance, end.State, end.Reason, next.wantState)
		}
	}
	return nil
}

// driveOne responds for people until this instance has ended.
func (l *drivenInstance) drive(ctx context.Context) error {
	for {
		var in instance.Instance
		err := l.log.waitUntil(ctx, func(f *logFollower) bool {
			in = f.instances[l.id]
			return in.Closed != "" || l.pendingOccasion(in) != ""
		})
		if err != nil {
			return fmt.Errorf("it does not end: %w", err)
		}
		if in.Closed != "" {
			return nil
		}
		what := l.pendingOccasion(in)
		if err := l.respond(ctx, in); err != nil && !errors.As(err, new(*instance.Refusal)) {
			return fmt.Errorf("people, %s: %w", what, err)
		}
		l.done[what] = true
	}
}

// pendingOccasion names what people have to respond to and have not yet; empty:
// nothing.
func (l *drivenInstance) pendingOccasion(in instance.Instance) string {
	what := ""
	e, escalated := in.Escalation()
	switch {
	case in.Paused:
		what = fmt.Sprint("paused at ", in.Seq)
	case escalated:
		what = fmt.Sprint("escalation ", e.Number)
	case in.Kind == workflow.Wait && in.State != "pending":
		what = fmt.Sprint(in.State, " since ", in.Entered)
	case in.State == "pushed" && in.Parked != nil && in.Claim == nil:
		what = fmt.Sprint("a look at ", in.Seq)
	}
	if l.done[what] {
		return ""
	}
	return what
}

func (l *drivenInstance) respond(ctx context.Context, in instance.Instance) error {
	e, escalated := in.Escalation()
	switch {
	case in.Paused:
		_, err := l.client.Resume(ctx, l.id, "the fault is over")
		return err
	case escalated && l.number == 0:
		_, err := l.client.Resolve(ctx, l.id, int32(e.Number), "that one")
		return err
	case in.State == "pushed":
		return l.review(ctx, in)
	case l.number == 0:
		_, err := l.client.Signal(ctx, l.id, "commented", fmt.Sprintf("%s-%d", l.id, in.Seq), "operator:ann",
			map[string]string{"body": "try harder", "operator": "true"})
		return err
	}
	text := "That one. " + clarification
	if l.behaviour == "lost" {
		text = "I do not know either. " + clarification
	}
	_, err := l.forge.ann.Comment(ctx, l.repo, l.number, text)
	return err
}

// review reads the pull request, reports a passing check, and approves or requests
// something first. It reviews each commit once.
func (l *drivenInstance) review(ctx context.Context, in instance.Instance) error {
	at := fmt.Sprintf("/repos/%s/pulls/%s", l.repo, in.Vars["prNumber"])
	var pr struct{ Head struct{ SHA string } }
	if err := l.requestAsAnn(ctx, http.MethodGet, at, nil, &pr); err != nil {
		return err
	}
	look := "head " + pr.Head.SHA
	if l.done[look] {
		return nil
	}
	first := !l.done["a head"]
	if err := l.requestAsAnn(ctx, http.MethodPost, "/repos/"+l.repo+"/statuses/"+pr.Head.SHA,
		map[string]any{"state": "success", "context": "ci"}, nil); err != nil {
		return err
	}
	method, path, body := http.MethodPost, at+"/reviews", map[string]any{"event": "APPROVE"}
	switch {
	case l.behaviour == "closed":
		method, path, body = http.MethodPatch, at, map[string]any{"state": "closed"}
	case first && l.behaviour == "reviewed":
		body = map[string]any{"event": "REQUEST_CHANGES", "body": "Please say it louder."}
	case first && l.behaviour == "remarked":
		path, body = at+"/comments", map[string]any{"body": "Is this line right?", "commit_id": pr.Head.SHA, "path": "work/" + l.id + ".txt",
			"line": 1, "side": "RIGHT"}
	}
	err := l.requestAsAnn(ctx, method, path, body, nil)
	l.done[look], l.done["a head"] = err == nil, err == nil
	return err
}

// requestAsAnn sends one request to the forge as ann.
func (e *chaosEnv) requestAsAnn(ctx context.Context, method, path string, body, into any) error {
	return e.forge.request(ctx, annToken, method, path, body, into)
}

// request sends one request to the forge with a token.
func (f *testForge) request(ctx context.Context, token, method, path string, body, into any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	q, err := http.NewRequestWithContext(ctx, method, f.url+"/api/v3"+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	q.Header.Set("Authorization", "Bearer "+token)
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode >= 300 {
		err = fmt.Errorf("it answers %s", r.Status)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", method, path, err, strings.TrimSpace(string(text)))
	}
	return nil
}
