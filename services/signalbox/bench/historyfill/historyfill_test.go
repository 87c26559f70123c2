package historyfill_test

import (
	"os"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/logcheck"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/services/signalbox/bench/historyfill"
)

func TestAHistoryIsSoundAndAsLongAsWanted(t *testing.T) {
	source, err := os.ReadFile("../lifecycle/history.yaml")
	if err != nil {
		t.Fatal(err)
	}
	def, err := workflow.Load("history", source)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []historyfill.Kind{{Commits: 3}, {Commits: 10}, {Commits: 3, Ended: true}, {Commits: 10, Ended: true}, {Commits: 1001}} {
		template, err := historyfill.Template(t.Context(), def, k)
		if err != nil {
			t.Fatal(err)
		}
		log := memory.New()
		if err := historyfill.Fill(t.Context(), log, template, "p", 3, 2); err != nil {
			t.Fatal(err)
		}
		for _, id := range []string{"p/0", "p/1", "p/2"} {
			commits, err := log.Load(t.Context(), id)
			if err != nil || len(commits) != k.Commits {
				t.Fatalf("%+v: %s has %d commits, %v", k, id, len(commits), err)
			}
			if err := eventstore.VerifyChain(commits); err != nil {
				t.Error(err)
			}
			in := instance.Instance{ID: id}
			for _, c := range commits {
				commit, err := wire.ToCommit(c)
				if err != nil {
					t.Fatal(err)
				}
				in = instance.Evolve(in, commit)
			}
			if ended := in.Closed == instance.Ended; ended != k.Ended || in.State == "done" != k.Ended || in.Seq != commits[k.Commits-1].Seq {
				t.Errorf("%+v: %s is in %s", k, id, in.State)
			}
		}
		report, err := logcheck.Check(t.Context(), log, workflow.NewCatalog(def).Hashed)
		if err != nil || report.Commits != 3*k.Commits || len(report.Violations) != 0 {
			t.Errorf("%+v: the log's checker finds %v, %v", k, report.Violations, err)
		}
	}
	if _, err := historyfill.Template(t.Context(), def, historyfill.Kind{Commits: 2}); err == nil {
		t.Error("there is a history of two commits")
	}
}
