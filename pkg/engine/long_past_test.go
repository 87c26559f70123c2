package engine_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
)

// walker goes round and round with one instance.
type walker struct {
	testing.TB
	engine *engine.Engine
	now    instance.Instance
}

func (w *walker) do(a instance.Action) {
	w.Helper()
	id := fmt.Sprintf("command-%08d", w.now.Seq)
	out, err := w.engine.Handle(w.Context(), instance.Command{ID: id, Instance: "acme/widgets/1", Actor: "test", Do: a}, "line")
	if err != nil {
		w.Fatal(err)
	}
	w.now = out.Instance
}

// step is a claim and a report, which fails.
func (w *walker) step() {
	w.do(instance.Claim{Role: w.now.Owner, Agent: "agent-1", Work: w.now.Work, Lease: time.Minute})
	w.do(instance.Report{Token: w.now.Claim.Token, Result: instance.Result{Status: instance.Failure, ConfidenceScore: 0.5}})
}

// until walks until so many steps were made.
func (w *walker) until(steps int) {
	for w.now.Iteration < steps {
		w.step()
	}
}

func walk(t testing.TB, change ...func(*engine.Config)) *walker {
	def, err := workflow.Load("line", []byte(line()))
	if err != nil {
		t.Fatal(err)
	}
	c := engine.Config{Store: memory.New(), Definitions: definitions{workflow.NewCatalog(def)}, Now: time.Now}
	for _, f := range change {
		f(&c)
	}
	w := &walker{TB: t, engine: engine.New(c)}
	w.do(instance.Open{Issue: instance.Issue{Title: "It is broken"}})
	return w
}

// What a step allocates tells what of the past it touches, on any machine.
func TestAStepTouchesTheSameHoweverLongThePastIs(t *testing.T) {
	w := walk(t)
	each := func() uint64 {
		const steps = 64
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range steps {
			w.step()
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / steps
	}
	w.until(8)
	early := each()
	w.until(2000)
	if late := each(); late > early+early/10 {
		t.Errorf("step 2,000 allocates %d bytes, step 8 %d", late, early)
	}
}

// BenchmarkStep is a claim and a report of one instance after so many others, by
// an engine that was there and by one that was started since.
func BenchmarkStep(b *testing.B) {
	for _, past := range []int{8, 1000, 10000} {
		for _, restarted := range []bool{false, true} {
			b.Run(fmt.Sprintf("after %d, restarted %v", past, restarted), func(b *testing.B) {
				var config engine.Config
				w := walk(b, func(c *engine.Config) { config = *c })
				w.until(past)
				if restarted {
					w.engine = newFollowing(b, config)
				}
				defer processor(b)()
				for b.Loop() {
					w.step()
				}
			})
		}
	}
}
