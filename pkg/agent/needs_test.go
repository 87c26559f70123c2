package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// plays is a handler that does one thing after the other and tells what it was given.
type plays struct {
	jobs  chan agent.Job
	steps chan func(agent.Job) (instance.Result, error)
}

func newPlays(steps ...func(agent.Job) (instance.Result, error)) plays {
	p := plays{jobs: make(chan agent.Job, 100), steps: make(chan func(agent.Job) (instance.Result, error), len(steps))}
	for _, s := range steps {
		p.steps <- s
	}
	return p
}

func (p plays) Work(ctx context.Context, job agent.Job) (instance.Result, error) {
	p.jobs <- job
	select {
	case step := <-p.steps:
		return step(job)
	case <-ctx.Done():
		return instance.Result{}, ctx.Err()
	}
}

func ends(r instance.Result, err error) func(agent.Job) (instance.Result, error) {
	return func(agent.Job) (instance.Result, error) { return r, err }
}

func TestARoleAsksAnotherAndGoesOnWithItsAnswerAndItsWork(t *testing.T) {
	w := newEnv(t, 20*time.Second)
	w.start("pipeline", "a")
	judged := success()
	judged.Sections, judged.Data = map[string]string{"triage": `{"scope":"SMALL"}`}, map[string]string{"should_proceed": "true"}
	spent := success()
	spent.Spend.TokensIn = 5
	half := map[string]string{"triage": `{"scope":"MEDIUM"}`}
	triage := newPlays(
		ends(spent, &agent.ErrAsk{Questions: []instance.Inquiry{{To: "analyst", Question: "Whose is it?"}}, Head: "c0ffee", Bundle: "git/half", Sections: half}),
		ends(judged, nil))
	answer := instance.Result{Status: instance.Success, ConfidenceScore: 1, Summary: "Ours.", Head: "f00d", Bundle: "git/more"}
	analyst := newPlays(ends(answer, nil), ends(success(), nil))
	k := w.agent("triage-1", triage, as("triage"))
	w.agent("analyst-1", analyst, as("analyst"))

	if job := next(w, triage.jobs); job.Question != nil || len(job.Writes) != 1 || job.Writes[0] != "triage" || job.Vars["should_proceed"] != "true" && job.Vars["should_proceed"] != "" {
		t.Errorf("at first it is given %+v", job.Assignment)
	}
	job := next(w, analyst.jobs)
	if q := job.Question; q == nil || q.Number != 1 || q.From != "triage" || q.Text != "Whose is it?" || job.State != "triage" || job.Head != "c0ffee" || len(job.Bundles) != 1 || string(job.Sections["triage"]) != half["triage"] {
		t.Errorf("who is asked is given %+v", job.Assignment)
	}
	job = next(w, triage.jobs)
	if q := job.Questions; len(q) != 1 || q[0].Answer != "Ours." || q[0].To != "analyst" || job.Question != nil || job.Head != "f00d" || len(job.Bundles) != 2 || string(job.Sections["triage"]) != half["triage"] {
		t.Errorf("with the answer it is given %+v", job.Assignment)
	}
	if len(job.Open()) != 0 {
		t.Errorf("open to people is %+v", job.Open())
	}
	job = next(w, analyst.jobs)
	if job.State != "analyst" || job.Question != nil || string(job.Sections["triage"]) != `{"scope":"SMALL"}` || job.Vars["should_proceed"] != "true" || job.Opened.IsZero() {
		t.Errorf("the next is given %+v", job.Assignment)
	}
	if got := next(w, k.ended); !errors.As(got.err, new(*agent.ErrAsk)) || got.result.Status != "" {
		t.Errorf("asking ended with %+v, %v", got.result, got.err)
	}
	all := w.until("a", to("writer"))
	if s := of[instance.Spent](all); len(s) != 1 || s[0].Spend.TokensIn != 5 || len(of[instance.Reported](all)) != 3 {
		t.Errorf("booked is %+v; there came %s", s, names(all))
	}
}

func TestPeopleAreAskedWithTheWorkHeldOrBesideIt(t *testing.T) {
	w := newEnv(t, 20*time.Second)
	w.start("pipeline", "a")
	triage := newPlays(
		ends(success(), &agent.ErrEscalate{Reason: "It touches the login.", RequiresHuman: true, Head: "c0ffee", Bundle: "git/half", Sections: map[string]string{"triage": `{"scope":"LARGE"}`}}),
		ends(success(), &agent.ErrEscalate{Reason: "The tests are slow."}))
	k := w.agent("triage-1", triage, as("triage"))
	w.until("a", func(e instance.Event) bool { _, ok := e.(instance.Escalated); return ok })
	if got := next(w, k.ended); !errors.As(got.err, new(*agent.ErrEscalate)) {
		t.Errorf("it ended with %v", got.err)
	}
	if _, err := w.client.Do(w.ctx, "resolve", &pb.Command{Instance: "a", Action: &pb.Command_Resolve{Resolve: &pb.Resolve{Text: "That is fine."}}}); err != nil {
		t.Fatal(err)
	}
	next(w, triage.jobs)
	job := next(w, triage.jobs)
	if job.Head != "c0ffee" || len(job.Bundles) != 1 || string(job.Sections["triage"]) != `{"scope":"LARGE"}` {
		t.Errorf("it goes on with %+v", job.Assignment)
	}
	if e := job.Escalations; len(e) != 1 || !e[0].Resolved || e[0].Resolution != "That is fine." || !e[0].RequiresHuman {
		t.Errorf("it goes on with %+v", e)
	}
	all := w.until("a", to("analyst"))
	if e := of[instance.Escalated](all); len(e) != 2 || e[1].Reason != "The tests are slow." || e[1].RequiresHuman || len(of[instance.Reported](all)) != 1 {
		t.Errorf("escalated are %+v; there came %s", e, names(all))
	}
}

func TestARefusedPleaIsAFailureThatSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		plea error
		says []string
	}{
		"a role there is not":         {&agent.ErrAsk{Questions: []instance.Inquiry{{To: "oracle", Question: "Why?"}}}, []string{"cannot ask", "oracle", "analyst"}},
		"nobody":                      {&agent.ErrAsk{}, []string{"cannot ask"}},
		"for no reason":               {&agent.ErrEscalate{RequiresHuman: true}, []string{"cannot escalate", "reason"}},
		"another's section":           {&agent.ErrAsk{Questions: []instance.Inquiry{{To: "analyst", Question: "Why?"}}, Sections: map[string]string{"writer": "{}"}}, []string{"cannot ask", `"writer"`}},
		"a section that is no JSON":   {&agent.ErrEscalate{Reason: "r", RequiresHuman: true, Sections: map[string]string{"triage": "{"}}, []string{"cannot escalate", `"triage"`}},
		"a failure beside a word":     {&agent.ErrEscalate{Reason: "r", Then: errBroken}, []string{"broken"}},
		"one beside a word, refused":  {&agent.ErrEscalate{Reason: "r", Then: &agent.ErrAsk{}}, []string{"cannot ask"}},
		"a refused word with another": {&agent.ErrEscalate{Then: errBroken}, []string{"cannot escalate"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, 20*time.Second)
			w.start("pipeline", "a")
			left := success()
			left.Head, left.Bundle, left.Sections = "c0ffee", "git/half", map[string]string{"triage": "{}"}
			w.agent("triage-1", newPlays(ends(left, c.plea)), as("triage"))
			all := w.until("a", func(e instance.Event) bool {
				asked, ok := e.(instance.Escalated)
				return ok && asked.Reason == "triage failed"
			})
			r := of[instance.Reported](all)
			if len(r) != 1 || r[0].Result.Status != instance.Failure || r[0].Result.FailureSignature == "" {
				t.Fatalf("there came %s", names(all))
			}
			if got := r[0].Result; strings.Contains(got.Summary, "cannot") && (got.Head != "" || got.Bundle != "" || len(got.Sections) != 0) {
				t.Errorf("it hands on %+v", got)
			}
			for _, want := range c.says {
				if !strings.Contains(r[0].Result.Summary, want) {
					t.Errorf("it says %q", r[0].Result.Summary)
				}
			}
		})
	}
}

func TestANoteIsKeptOnce(t *testing.T) {
	w := newEnv(t, 20*time.Second)
	w.start("pipeline", "a")
	w.agent("triage-1", newPlays(func(job agent.Job) (instance.Result, error) {
		for _, text := range []string{"It uses lodash.", "It uses lodash.", "It is slow."} {
			if err := job.Note(w.ctx, "pattern_discovered", text); err != nil {
				return instance.Result{}, err
			}
		}
		return success(), nil
	}), as("triage"))
	notes := of[instance.Noted](w.until("a", to("analyst")))
	if len(notes) != 2 || notes[0].Kind != "pattern_discovered" || notes[0].Author != "triage/triage-1" || notes[1].Text != "It is slow." {
		t.Errorf("kept are %+v", notes)
	}
}

func TestAQuestionIsAskedEvenWhileTheAgentStops(t *testing.T) {
	w := newEnv(t, 20*time.Second)
	w.start("pipeline", "a")
	begun := make(chan struct{})
	k := w.agent("triage-1", works(func(ctx context.Context, _ agent.Job) (instance.Result, error) {
		close(begun)
		<-ctx.Done()
		return instance.Result{}, &agent.ErrAsk{Questions: []instance.Inquiry{{To: "reviewer", Question: "Is it ours?"}}}
	}), as("triage"))
	next(w, begun)
	k.stop()
	w.until("a", func(e instance.Event) bool { a, ok := e.(instance.Asked); return ok && a.To == "reviewer" })
}
