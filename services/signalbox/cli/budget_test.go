package cli

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/ledger"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
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
	if out := run("explain", "acme/widgets/1"); !strings.Contains(out, "signalbox budget acme/widgets/1 +5usd --day") || strings.Contains(out, "signalbox retry") {
		t.Errorf("explain says %s", out)
	}
	if out := run("budget", "acme/widgets/1", "+5"); !strings.Contains(out, "may cost $5.00 more; it waits for a day's budget, which --day raises") {
		t.Errorf("the raise of the instance says %s", out)
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

	if out := run("budget", "acme/widgets/1", "+5usd", "--day"); !strings.Contains(out, "today may cost $5.00 more") {
		t.Errorf("the raise says %s", out)
	}
	run("retry", "acme/widgets/1")
	_, err = claim(t.Context(), nc, "analyst", "acme/widgets/1")
	check(err, "")
	if out := run("history", "acme/widgets/1"); !strings.Contains(out, "day_raised") || !strings.Contains(out, "repo=acme/widgets,day=5.5usd by $5.00") || !strings.Contains(out, "operator:") {
		t.Errorf("the log says %s", out)
	}
	for amount, want := range map[string]string{"+5usd": "no budget that covers the work of analyst on acme/widgets/1 is spent today", "+5h": "is spent today", "5usd": "is no raise of a day's budget"} {
		if code, out := ended(t, "budget", "acme/widgets/1", amount, "--day", "--nats", server.URL); code == 0 || !strings.Contains(out, want) {
			t.Errorf("%s says %s", amount, out)
		}
	}

	stop()
	stop = begin("repo=acme/widgets,day=5.5usd") // the log has the raise
	run("retry", "acme/widgets/2")
	_, err = claim(t.Context(), nc, "pm", "acme/widgets/2")
	check(err, "")

	stop()
	begin("repo=acme/widgets,day=6usd") // another budget was not raised, and is not spent
	run("open", "issue", "--id", "acme/widgets/3", "--title", "t")
	_, err = claim(t.Context(), nc, "pm", "acme/widgets/3")
	check(err, "")
}

func TestARepositoryBoundsItsDayWithoutTheOperatorAlsoAfterARestart(t *testing.T) {
	t.Parallel()
	server := natstest.Start(t, natstest.Options{})
	nc := server.Connect(t)
	c, began := client.New(nc, "operator:ann"), time.Now()
	begin := func() (stop func()) {
		return orchestratortest.Start(t, server.URL, 1, orchestrator.Settings{AckWait: time.Minute})
	}
	// claims claims the work once the day is read, and returns why it is refused.
	claims := func(role, id string) string {
		t.Helper()
		for {
			_, err := claim(t.Context(), nc, role, id)
			switch {
			case !ledger.Day(began).Equal(ledger.Day(time.Now())):
				t.Skip("the day has ended meanwhile")
			case err == nil:
				return ""
			case !strings.Contains(err.Error(), "today's costs are being read"):
				return err.Error()
			}
			_, _ = c.Retry(t.Context(), id, "is it read?") // refused if it was dispatched meanwhile
		}
	}
	stop := begin()
	for _, id := range []string{"acme/widgets/1", "acme/widgets/2"} {
		_, err := c.Do(t.Context(), subject.Open, &pb.Command{Instance: id, Action: &pb.Command_Open{Open: &pb.Open{Workflow: "issue",
			Issue: &pb.Issue{Repo: "acme/widgets", Title: "t", Config: &pb.Configuration{Hash: "h", Days: []*pb.DayBudget{{Usd: 5}}}}}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if why := claims("pm", "acme/widgets/1"); why != "" {
		t.Fatal(why)
	}
	if err := claimAndReport(t.Context(), nc, "pm", "acme/widgets/1", `{"status": "success", "confidence_score": 0.95, "summary": "s", "spend": {"usd": 5.5}}`); err != nil {
		t.Fatal(err)
	}
	const spent = "the budget repo=acme/widgets,day=5usd is spent: $5.50 of $5.00"
	if why := claims("pm", "acme/widgets/2"); !strings.Contains(why, spent) {
		t.Errorf("it is refused: %q", why)
	}
	stop()
	begin()
	if why := claims("analyst", "acme/widgets/1"); !strings.Contains(why, spent) {
		t.Errorf("after a restart it is refused: %q", why)
	}
}
