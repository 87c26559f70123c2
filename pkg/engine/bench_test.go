package engine_test

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// line is a lifecycle of eight steps, with rules, a gate, limits and a loop rule
// as lifecycles have them.
func line() string {
	var s strings.Builder
	s.WriteString(`
workflow: line
version: 1
initial: s1
policy: {confidence: 0.7, most: 100000}
vars: {attempts: 0}
loop: {window: 5, distinct: 2}
limits: [{name: enough, when: "instance.returns >= policy.most", to: [done]}]
gates: [{name: sure, to: [s8], require: "result.confidence_score >= policy.confidence", instead: [s1], reason: "not sure"}]
states:
`)
	for n := 1; n <= 8; n++ {
		next, row := fmt.Sprint("s", n+1), fmt.Sprintf("s%d, s1, done", n+1)
		if n == 8 {
			next, row = "done", "s1, done"
		}
		fmt.Fprintf(&s, "  s%d:\n    owner: role%d\n    timeout: 30m\n    next: [%s]\n    decide:\n"+
			"      - {when: \"result.status == 'success' && vars.attempts < 3\", to: %s}\n      - {to: s1, failure: true}\n", n, n, row, next)
	}
	s.WriteString("  done: {final: true}\n")
	return s.String()
}

// bench is an engine on an empty log that follows it.
func bench(b *testing.B) (*engine.Engine, *workflow.Definition) {
	def, err := workflow.Load("line", []byte(line()))
	if err != nil {
		b.Fatal(err)
	}
	e := engine.New(engine.Config{Store: memory.New(), Definitions: definitions{workflow.NewCatalog(def)}, Now: time.Now})
	ctx, stop := context.WithCancel(context.Background())
	caught, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- e.Follow(ctx, func() { close(caught) }) }()
	b.Cleanup(func() { stop(); <-ended })
	<-caught
	return e, def
}

// processor reports allocations and the processor's time an operation, which
// others on the machine do not change.
func processor(b *testing.B) (end func()) {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	b.ReportAllocs()
	start := used()
	return func() { b.ReportMetric(float64(used()-start)/float64(b.N), "cpu-ns/op") }
}

func result() instance.Result {
	return instance.Result{Status: instance.Success, ConfidenceScore: 0.9, Summary: "it is done", Spend: instance.Cost{TokensIn: 1200, WallMS: 40},
		Data: map[string]string{"files": "3"}}
}

// BenchmarkCommand is one command of the whole life of an instance of eight
// steps, and what following it costs.
func BenchmarkCommand(b *testing.B) {
	e, _ := bench(b)
	var now instance.Instance
	n := 0
	defer processor(b)()
	for b.Loop() {
		n++
		c := instance.Command{ID: fmt.Sprintf("0123456789abcdef-%08d", n), Instance: now.ID, Actor: now.Owner + "/agent-1"}
		switch {
		case !now.Exists() || now.Closed != "":
			c.Instance, c.Actor = fmt.Sprintf("acme/widgets/%d", n), "operator:ann"
			c.Do = instance.Open{Issue: instance.Issue{Repo: "acme/widgets", Number: 42, Title: "It is broken", Body: "When I press the button nothing happens."}}
		case now.Claim == nil:
			c.Do = instance.Claim{Role: now.Owner, Agent: "agent-1", Work: now.Work, Lease: time.Minute}
		default:
			c.Do = instance.Report{Token: now.Claim.Token, Result: result()}
		}
		out, err := e.Handle(context.Background(), c, "line")
		if err != nil {
			b.Fatal(err)
		}
		now = out.Instance
	}
	if _, err := e.List(context.Background(), func(instance.Instance) bool { return false }); err != nil { // all was followed
		b.Fatal(err)
	}
}
