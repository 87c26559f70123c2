package cli

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/ledger"
	orchestrator "github.com/signalbox/signalbox/services/orchestrator/app"
	"github.com/signalbox/signalbox/services/orchestrator/orchestratortest"
)

func TestADaysBudgetHoldsWorkAlsoAfterARestart(t *testing.T) {
	t.Parallel()
	server := natstest.Start(t, natstest.Options{})
	nc := server.Connect(t)
	var log bytes.Buffer
	begin := func(budget string) (stop func()) {
		return orchestratortest.StartLogged(t, server.URL, 1, orchestrator.Settings{AckWait: time.Minute, Budget: []string{budget}},
			slog.New(slog.NewTextHandler(&log, nil)))
	}
	run := func(args ...string) string {
		_, out := ended(t, append(args, "--nats", server.URL)...)
		return out
	}
	began := time.Now()
	const dear = `{"status": "success", "confidence_score": 0.95, "summary": "taken up", "spend": {"usd": 5.5, "tokens_in": 10}}`
	check := func(err error, want string) {
		t.Helper()
		if !ledger.Day(began).Equal(ledger.Day(time.Now())) {
			t.Skip("the day has ended meanwhile")
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Fatalf("%v, want %q", err, want)
		}
	}
	stop := begin("repo=acme/widgets,day=5usd")
	for _, id := range []string{"acme/widgets/1", "acme/widgets/2", "acme/gears/1"} {
		run("open", "issue", "--id", id, "--title", "t")
	}
	check(claimAndReport(t.Context(), nc, "pm", "acme/widgets/1", dear), "")
	_, err := claim(t.Context(), nc, "analyst", "acme/widgets/1")
	check(err, "parked: the budget repo=acme/widgets,day=5usd is spent: $5.50 of $5.00")
	_, err = claim(t.Context(), nc, "pm", "acme/gears/1")
	check(err, "")
	for _, command := range []string{"explain", "show", "history"} {
		if out := run(command, "acme/widgets/1"); !strings.Contains(out, "the budget repo=acme/widgets,day=5usd is spent") {
			t.Errorf("%s says %s", command, out)
		}
	}
	if out := run("ls"); !strings.Contains(out, "(parked)") {
		t.Errorf("ls says %s", out)
	}

	stop()
	if !strings.Contains(log.String(), "a budget is spent; its work rests until the day ends") || !strings.Contains(log.String(), `budget="repo=acme/widgets,day=5usd" spent="$5.50 of $5.00"`) {
		t.Errorf("the log is\n%s", log.String())
	}
	stop = begin("repo=acme/widgets,day=5.5usd")
	_, err = claim(t.Context(), nc, "pm", "acme/widgets/2")
	check(err, "is spent: $5.50 of $5.50")

	stop()
	begin("repo=acme/widgets,day=10usd")
	_, err = claim(t.Context(), nc, "analyst", "acme/widgets/1")
	check(err, "parked")
	run("retry", "acme/widgets/1")
	_, err = claim(t.Context(), nc, "analyst", "acme/widgets/1")
	check(err, "")
}
