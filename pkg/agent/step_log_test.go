package agent_test

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

func TestAStepIsLoggedOnceWithItsInstanceStateResultAndDuration(t *testing.T) {
	w := newEnv(t, 20*time.Second)
	steps := newPlays(ends(success(), nil), ends(instance.Result{}, errors.New("it cannot\nbe done")),
		ends(instance.Result{Status: instance.Failure, Summary: "no title"}, nil),
		ends(success(), fmt.Errorf("%w: the disk is full", brain.ErrInfrastructure)), ends(success(), nil))
	k := w.agent("a1", steps)
	for _, id := range []string{"good", "bad", "wrong", "faulty"} {
		w.open(id)
		next(w, k.ended)
	}
	next(w, k.ended) // the faulty one again
	asked := newPlays(ends(success(), &agent.ErrAsk{Questions: []instance.Inquiry{{To: "analyst", Question: "Whose is it?"}}}))
	w.start("pipeline", "asks")
	asks := w.agent("triage-1", asked, as("triage"))
	next(w, asks.ended)

	var got []string
	for _, logs := range []chan slog.Record{k.logs, asks.logs} {
		for len(logs) > 0 {
			rec, seen := <-logs, map[string]slog.Value{}
			rec.Attrs(func(a slog.Attr) bool { seen[a.Key] = a.Value; return true })
			if _, about := seen["instance"]; !about || rec.Level < slog.LevelInfo {
				continue
			}
			if seen["took"].Kind() != slog.KindDuration {
				t.Errorf("%q says it took %v", rec.Message, seen["took"])
			}
			got = append(got, fmt.Sprintf("%s %s: %s in %s: %s (%v)", rec.Level, rec.Message, seen["instance"], seen["state"], seen["result"],
				seen["error"]))
		}
	}
	want := []string{
		"INFO step done: good in received: success (<nil>)",
		"INFO step done: bad in received: failure (it cannot)",
		"INFO step done: wrong in received: failure (no title)",
		"WARN infrastructure fault; the work is tried again: faulty in received: fault (infrastructure fault: the disk is full)",
		"INFO step done: faulty in received: success (<nil>)",
		"INFO step done: asks in triage: asked (asks the analyst: Whose is it?)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("it logs\n%q, want\n%q", got, want)
	}
}
