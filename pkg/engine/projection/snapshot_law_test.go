package projection_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/enginetest"
	"github.com/signalbox/signalbox/pkg/engine/projection"
	"github.com/signalbox/signalbox/pkg/engine/projection/snapshot"
)

// told is the last state of each instance that Config.Changed was called with.
type told map[string]change

type change struct {
	*projection.State
	ordered bool
}

func (all told) changed(s *projection.State, ordered bool) {
	all[s.Instance.ID] = change{s, ordered}
}

// project returns a projection of a history, and what it called Changed with.
func project(h *enginetest.History, s *snapshot.Config) (*projection.Projection, told) {
	all := told{}
	return projection.New(projection.Config{Store: h.Store, Definitions: h.Definitions, Changed: all.changed, Snapshots: s}), all
}

// check has each live instance be told of as it is, and no work of any other.
func (all told) check(t rapid.TB, p *projection.Projection) {
	live := p.Contents().Live
	for id, in := range live {
		last, ok := all[id]
		if !ok || last.Instance.Seq != in.Seq {
			t.Fatalf("of %s at %d it told %+v", id, in.Seq, last.State)
		}
		if last.ordered != p.OrderedAs(in.Definition) {
			t.Fatalf("of %s it told that its definition has an order: %v", id, last.ordered)
		}
		if last.Instance.Direct != in.Direct {
			t.Fatalf("of %s it told that its work is in no queue: %v", id, last.Instance.Direct)
		}
	}
	for id, last := range all {
		if _, lives := live[id]; !lives && last.Ready() != "" {
			t.Fatalf("of %s, which is not live, it told that %s has work: %+v", id, last.Ready(), last.Instance)
		}
	}
}

// diff is how the contents of two projections differ.
func diff(whole, other *projection.Projection) string {
	return cmp.Diff(whole.Contents(), other.Contents(), cmpopts.EquateEmpty(), cmp.AllowUnexported(projection.Command{}),
		cmpopts.SortSlices(func(a, b uint64) bool { return a < b }))
}

// What a projection knows after a snapshot and the rest of the log is what one knows
// that read all of it.
func TestASnapshotAndTheRestOfTheLogAreTheWholeLog(t *testing.T) {
	direct := 0
	rapid.Check(t, func(t *rapid.T) {
		h, kept := enginetest.New(t), enginetest.NewSnapshots()
		ignored := func(err error) { t.Fatalf("a snapshot was ignored: %v", err) }
		for range rapid.IntRange(1, 5).Draw(t, "runs") {
			e := h.Engine(kept.Config("log", 1, ignored))
			enginetest.Run(t, e, func() {
				for range rapid.IntRange(0, 40).Draw(t, "commands") {
					h.Act(t, e)
				}
				if rapid.Bool().Draw(t, "snapshot") {
					if err := e.CatchUp(t.Context()); err != nil {
						t.Fatal(err)
					}
					if err := e.Snapshot(t.Context(), rapid.Bool().Draw(t, "last")); err != nil {
						t.Fatal(err)
					}
				}
				for range rapid.IntRange(0, 10).Draw(t, "more") {
					h.Act(t, e)
				}
			})
			e.Dismiss()
		}
		direct += h.Direct
		restored, toldByRestored := project(h, kept.Config("log", 1, ignored))
		whole, toldByWhole := project(h, nil)
		enginetest.Run(t, restored, func() {})
		enginetest.Run(t, whole, func() {})
		if diff := diff(whole, restored); diff != "" {
			t.Fatalf("-the whole log +the snapshot and the rest:\n%s", diff)
		}
		if len(kept.Parts) > 0 && restored.SnapshotFrom() == 0 {
			t.Fatal("the snapshot was not used")
		}
		toldByRestored.check(t, restored)
		toldByWhole.check(t, whole)
	})
	if direct == 0 {
		t.Error("no agent was given anything: this proves nothing of it")
	}
}
