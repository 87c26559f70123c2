package app

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
)

// request is the request to sb.forge.issue.open.
type request struct {
	ID       string   `json:"id"` // the same when it is sent again: then the issue is made once; may be empty
	Repo     string   `json:"repo"`
	Workflow string   `json:"workflow"` // empty: the gateway's
	Title    string   `json:"title"`
	Body     string   `json:"body"`
	Labels   []string `json:"labels"`
}

// opens is the prefix of the key in the marker of an issue that create made. The rest is
// the lifecycle. If the gateway crashes, the next poll opens the instance with it.
const opens = "opens-"

// create creates the issue on the forge and opens its instance.
func (p *poller) create(ctx context.Context, r request) (instance.Issue, string, error) {
	labels := r.Labels
	if p.label != "" && !slices.Contains(labels, p.label) {
		labels = append(slices.Clip(labels), p.label)
	}
	w, ok := p.reader.(forge.Writer)
	if !ok {
		return instance.Issue{}, "", errors.New("this gateway cannot write to the forge")
	}
	config, err := p.configs.current(ctx)
	if err != nil {
		return instance.Issue{}, "", err
	}
	if config.Label != "" && !slices.Contains(labels, config.Label) {
		labels = append(slices.Clip(labels), config.Label)
	}
	workflow := cmp.Or(r.Workflow, config.Lifecycle, p.workflow)
	// Checked first: else the next poll opens the issue with another lifecycle.
	if _, err := p.client.Definition(ctx, workflow); err != nil {
		return instance.Issue{}, "", err
	}
	p.creating.Lock()
	defer p.creating.Unlock()
	issue, err := p.findCreated(ctx, r)
	if errors.Is(err, forge.ErrNotFound) {
		body := r.Body
		if r.ID != "" || workflow != p.workflow {
			body += "\n\n" + rules.Marker(r.ID, opens+workflow)
		}
		issue, err = w.CreateIssue(ctx, p.repo, forge.NewIssue{Title: r.Title, Body: body, Labels: labels})
	}
	if err != nil {
		return instance.Issue{}, "", err
	}
	made := instance.Issue{Repo: p.repo, Number: issue.Number, Title: issue.Title, URL: issue.URL}
	// Asked for on the bus, which only accounts that may act can do: it is their word.
	_, err = p.open(ctx, issue, workflow, admission{permission: "write"}, config)
	if errors.Is(err, &instance.Refusal{Code: instance.CodeExists}) {
		err = nil // a poll was first, of another gateway or before this was sent again
	}
	return made, Name(p.repo, issue.Number), err
}

// repeatWithin is how long a request may be repeated.
const repeatWithin = 24 * time.Hour

// findCreated finds the open issue that the request has created before.
func (p *poller) findCreated(ctx context.Context, r request) (forge.Issue, error) {
	if r.ID == "" {
		return forge.Issue{}, forge.ErrNotFound
	}
	self, err := p.reader.Self(ctx)
	if err != nil {
		return forge.Issue{}, err
	}
	issues, err := p.reader.Issues(ctx, p.repo, time.Now().Add(-repeatWithin))
	if err != nil {
		return forge.Issue{}, err
	}
	for _, issue := range issues {
		if id, key, ok := rules.FindMarker(issue.Body); ok && id == r.ID && strings.HasPrefix(key, opens) && issue.Author.Login == self {
			return issue, nil
		}
	}
	return forge.Issue{}, forge.ErrNotFound
}

// workflowOf returns the lifecycle that an issue opens with: that of its marker if create
// made it, else the other one.
func (p *poller) workflowOf(ctx context.Context, issue forge.Issue, other string) (string, error) {
	_, key, ok := rules.FindMarker(issue.Body)
	workflow, made := strings.CutPrefix(key, opens)
	if !ok || !made {
		return other, nil
	}
	self, err := p.reader.Self(ctx)
	if err != nil || issue.Author.Login != self {
		return other, err
	}
	return workflow, nil
}
