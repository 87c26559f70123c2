package app

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/service"
)

func TestAReportMakesAnIssueAndItsInstance(t *testing.T) {
	w := newWorld(t)
	nc := w.server.Connect(t)
	ctx, cancel := context.WithCancel(w.ctx)
	ended := make(chan error, 1)
	p := w.poller(func(p *poller) { p.label = "signalbox" })
	go func() {
		ended <- reports(ctx, &service.Host{NATS: w.server.Connect(t)}, map[string]*poller{widgets: p})
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
