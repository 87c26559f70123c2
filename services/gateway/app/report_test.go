package app

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/localforge"
	"github.com/signalbox/signalbox/pkg/service"
)

func TestAReportMakesAnIssueAndItsInstance(t *testing.T) {
	w := newEnv(t)
	nc := w.server.Connect(t)
	ctx, cancel := context.WithCancel(w.ctx)
	ended := make(chan error, 1)
	p := w.poller(func(p *poller) { p.label = "signalbox" })
	go func() {
		ended <- reports(ctx, &service.Host{NATS: w.server.Connect(t)}, &deliveries{watched: watching(repository{issues: p})})
	}()
	ask := func(body string) *nats.Msg {
		t.Helper()
		for {
			got, err := nc.RequestWithContext(w.ctx, "sb.forge.issue.open", []byte(body))
			if errors.Is(err, nats.ErrNoResponders) {
				continue // not there yet
			}
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
	}
	var made answer
	if got := ask(`{"title":"From a shell","body":"It is broken.","labels":["bug"]}`); json.Unmarshal(got.Data, &made) != nil || made.Instance != "acme/widgets/1" || made.Issue.URL == "" {
		t.Fatalf("answered %v %s", got.Header, got.Data)
	}
	w.poll(p)
	if got := w.instances(); !slices.Equal(got, []string{"acme/widgets/1"}) {
		t.Errorf("instances are %v", got)
	}
	if in, err := p.client.Get(w.ctx, "acme/widgets/1"); err != nil || in.GetIssue().GetPermission() != "write" {
		t.Errorf("its reporter has the permission %q, %v", in.GetIssue().GetPermission(), err)
	}
	issues, err := w.ann.Issues(w.ctx, widgets, time.Time{})
	if err != nil || len(issues) != 1 || !slices.Contains(issues[0].Labels, "signalbox") || !slices.Contains(issues[0].Labels, "bug") {
		t.Errorf("issues are %+v, %v", issues, err)
	}
	for name, body := range map[string]string{
		"no title":                     `{"body":"x"}`,
		"another repository":           `{"repo":"acme/gadgets","title":"x"}`,
		"no report":                    `[`,
		"a workflow that there is not": `{"title":"x","workflow":"isue"}`,
	} {
		if got := ask(body); got.Header.Get("Nats-Service-Error") == "" {
			t.Errorf("%s was answered %s", name, got.Data)
		}
	}
	if issues, err := w.ann.Issues(w.ctx, widgets, time.Time{}); err != nil || len(issues) != 1 {
		t.Errorf("what was refused left %d issues, %v", len(issues), err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestAnIssueThatWasMadeBeforeACrashOpensAsItWasAskedFor(t *testing.T) {
	w := newEnv(t)
	w.catchesUp()
	asked := request{ID: "r-1", Repo: widgets, Workflow: "pipeline", Title: "From a shell", Body: "It is broken."}
	w.forge.FailRequests("", "", localforge.Fault{After: true})
	p := w.poller()
	if _, err := p.reader.(forge.Writer).CreateIssue(w.ctx, widgets, forge.NewIssue{Title: asked.Title, Body: asked.Body + "\n\n" + rules.Marker(asked.ID, opens+asked.Workflow)}); err == nil {
		t.Fatal("nothing went wrong")
	}
	w.forge.Recover()
	other := w.report(w.bob, "copied\n\n"+rules.Marker("r-2", opens+"pipeline"))
	w.poll(w.poller()) // another gateway
	in, err := w.client.Get(w.ctx, Name(widgets, 1))
	if err != nil || in.GetWorkflow() != "pipeline" {
		t.Errorf("it opened as %q, %v", in.GetWorkflow(), err)
	}
	if in, err := w.client.Get(w.ctx, Name(widgets, other)); err != nil || in.GetWorkflow() != "issue" {
		t.Errorf("another person's opened as %q, %v", in.GetWorkflow(), err)
	}
	for range 2 { // and is asked for again
		if _, id, err := w.poller().create(w.ctx, asked); err != nil || id != Name(widgets, 1) {
			t.Errorf("asked for again it is %s, %v", id, err)
		}
	}
	if issues, err := w.ann.Issues(w.ctx, widgets, time.Time{}); err != nil || len(issues) != 2 {
		t.Errorf("there are %d issues, %v", len(issues), err)
	}
}
