package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// fail gives the work back as its holder.
func (e *env) fail(id string, token uint64) {
	e.Helper()
	if _, err := e.client.DoAs(e.ctx, "pm", "fail", &pb.Command{Instance: id, Action: &pb.Command_Fail{
		Fail: &pb.Fail{Token: uint32(token), Reason: "a fault"}}}); err != nil {
		e.Fatal(err)
	}
}

func TestAFaultOfTheMachineryIsTriedAgainByWhoeverIsFreeAndCostsNoAttempt(t *testing.T) {
	w := newEnv(t, 20*time.Second)
	begun, fail, busy, release := make(chan struct{}, 10), make(chan struct{}), make(chan struct{}), make(chan struct{})
	defer close(release)
	first := w.agent("first", works(func(ctx context.Context, job agent.Job) (instance.Result, error) {
		if job.Instance == "a" {
			begun <- struct{}{}
			select {
			case <-fail:
			case <-ctx.Done():
			}
			return success(), fmt.Errorf("%w: the disk is full", brain.ErrInfrastructure)
		}
		close(busy)
		select {
		case <-release:
		case <-ctx.Done():
		}
		return success(), nil
	}))
	w.open("a")
	next(w, begun)
	w.open("b") // is there when a fails, so that it comes to the first before a comes again
	close(fail)
	got := next(w, first.ended)
	if !errors.Is(got.err, brain.ErrInfrastructure) || got.result.Status != "" {
		t.Errorf("it ended with %v, %v", got.result, got.err)
	}
	next(w, busy)
	attempts := make(chan int, 1)
	w.agent("second", works(func(_ context.Context, job agent.Job) (instance.Result, error) {
		attempts <- job.Attempt
		return success(), nil
	}))
	all := w.until("a", moved)
	if got, want := names(all), []string{"dispatched", "claimed by first", "failed by first", "claimed by second", "reported by second", "moved to analyzing_requirements"}; !slices.Equal(got, want) {
		t.Errorf("there came %q, want %q", got, want)
	}
	if r := of[instance.Released](all); len(r) != 1 || !r[0].Fault || !strings.Contains(r[0].Reason, "the disk is full") {
		t.Errorf("the fault is %+v", r)
	}
	if n := next(w, attempts); n != 1 {
		t.Errorf("the second try is attempt %d", n)
	}
}

func TestAFaultWhoseEndIsKnownRestsUntilThen(t *testing.T) {
	w := newEnv(t, 20*time.Second)
	until := time.Now().Add(3 * time.Hour).UTC().Truncate(time.Second)
	w.agent("first", works(func(context.Context, agent.Job) (instance.Result, error) {
		return instance.Result{}, &brain.LaterError{Until: until, Err: fmt.Errorf("%w: at its limit", brain.ErrInfrastructure)}
	}))
	w.open("a")
	all := w.until("a", func(e instance.Event) bool { _, ok := e.(instance.Released); return ok })
	if r := of[instance.Released](all); len(r) != 1 || !r[0].Fault || !r[0].Until.Equal(until) || !strings.Contains(r[0].Reason, "it can work again at") {
		t.Errorf("the fault is %+v", r)
	}
}

func TestAnErrorOfTheHandlerIsAFailureOfTheWork(t *testing.T) {
	w := newEnv(t, 20*time.Second)
	k := w.agent("a1", works(func(_ context.Context, job agent.Job) (instance.Result, error) {
		switch job.Instance {
		case "other":
			return instance.Result{}, errors.New("another fault")
		case "own":
			return instance.Result{Status: instance.Success, FailureSignature: "own", IssuesFound: []string{"kept"}}, errBroken
		}
		return instance.Result{}, fmt.Errorf("%w in /tmp/work/%d-%s: at %x", errBroken, time.Now().UnixNano(), job.Instance, []byte(job.Instance+"-0123456789"))
	}))
	signatures := map[string]string{}
	for _, id := range []string{"one", "two", "other", "own"} {
		w.open(id)
		all := w.until(id, reported)
		r := of[instance.Reported](all)
		if len(r) != 1 || r[0].Result.Status != instance.Failure || r[0].Result.Summary == "" || r[0].Result.FailureSignature == "" {
			t.Fatalf("%s: there came %q: %+v", id, names(all), r)
		}
		signatures[id] = r[0].Result.FailureSignature
		if got := next(w, k.ended); got.err == nil || got.result.Status != instance.Failure {
			t.Errorf("%s ended with %v, %v", id, got.result, got.err)
		}
		if id == "own" && !slices.Equal(r[0].Result.IssuesFound, []string{"kept"}) {
			t.Errorf("of the result there is left %+v", r[0].Result)
		}
	}
	if signatures["one"] == signatures["other"] || signatures["own"] != "own" {
		t.Errorf("signatures are %v", signatures)
	}
}

func TestTheSameFaultHasTheSameSignature(t *testing.T) {
	w := newEnv(t, 20*time.Second)
	n := 0
	w.agent("a1", works(func(context.Context, agent.Job) (instance.Result, error) {
		n++
		return instance.Result{}, fmt.Errorf("/home/ann/trees/%d/work: HEAD %040x is not a descendant of %040x", 300000+n, n, n*7)
	}))
	var signatures []string
	for _, id := range []string{"one", "two"} {
		w.open(id)
		signatures = append(signatures, of[instance.Reported](w.until(id, reported))[0].Result.FailureSignature)
	}
	if signatures[0] != signatures[1] {
		t.Errorf("signatures are %v", signatures)
	}
}

func TestAResultThatCanNeverBeTakenIsAFault(t *testing.T) {
	for name, bad := range map[string]instance.Result{
		"too large for a message":       {Status: instance.Success, Summary: strings.Repeat("x", 2<<20)},
		"too large for a request":       {Status: instance.Success, Summary: strings.Repeat("x", 800<<10)},
		"of a status that there is not": {Status: "done"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t, 20*time.Second)
			k := w.agent("a1", works(func(_ context.Context, job agent.Job) (instance.Result, error) {
				if job.Token == 1 {
					return bad, nil
				}
				return success(), nil
			}))
			w.open("a")
			if got := next(w, k.ended); got.err == nil || got.result.Status != "" {
				t.Errorf("it ended with %q, %v", got.result.Status, got.err)
			}
			all := w.until("a", moved)
			if got, want := names(all), []string{"dispatched", "claimed by a1", "failed by a1", "claimed by a1", "reported by a1", "moved to analyzing_requirements"}; !slices.Equal(got, want) {
				t.Errorf("there came %q, want %q", got, want)
			}
			if r := of[instance.Released](all); !strings.Contains(r[0].Reason, "cannot be taken") {
				t.Errorf("the fault is %+v", r)
			}
		})
	}
}

func TestAReportThatComesWhenAPersonSaidStopIsDroppedOnce(t *testing.T) {
	w := newEnv(t, 40*time.Second)
	started, release := make(chan string, 10), make(chan struct{})
	k := w.agent("a1", works(func(_ context.Context, job agent.Job) (instance.Result, error) {
		started <- job.Instance
		<-release
		return success(), nil
	}), func(c *agent.Config) { c.Workers = 2 })
	w.open("paused")
	w.open("cancelled")
	next(w, started)
	next(w, started)
	if _, err := w.client.Pause(w.ctx, "paused", "r"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.client.Cancel(w.ctx, "cancelled", "r"); err != nil {
		t.Fatal(err)
	}
	close(release)
	for range 2 {
		if got := next(w, k.ended); got.err == nil {
			t.Errorf("%s ended without an error", got.job.Instance)
		}
	}
	w.settled() // and nothing is delivered for ever
	if _, err := w.client.Resume(w.ctx, "paused", "r"); err != nil {
		t.Fatal(err)
	}
	w.until("paused", moved)
}

func TestWorkWithASubjectThatIsNoneIsADeadLetter(t *testing.T) {
	w, filter := newQueueEnv(t, "issue", "received", 20*time.Second)
	if _, err := store.Provision(w.ctx, w.js, store.ProvisionConfig{}); err != nil {
		t.Fatal(err)
	}
	ack, err := w.js.Publish(w.ctx, strings.Replace(filter, "*", "no=instance", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	w.agent("a1", works(succeed))
	dead, err := w.js.OrderedConsumer(w.ctx, store.DeadStream, jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	msg, err := dead.Next()
	if err != nil {
		t.Fatal(err)
	}
	role, refused, err := subject.ParseDead(msg.Subject())
	var advisory struct {
		Seq    uint64 `json:"stream_seq"`
		Reason string `json:"reason"`
	}
	if err = errors.Join(err, json.Unmarshal(msg.Data(), &advisory)); err != nil || role != "pm" || !refused || advisory.Seq != ack.Sequence || !strings.Contains(advisory.Reason, "no=instance") {
		t.Errorf("the dead letter is %s %+v, %v", msg.Subject(), advisory, err)
	}
}
