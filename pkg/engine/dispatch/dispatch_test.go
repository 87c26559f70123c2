package dispatch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/dispatch"
	"github.com/signalbox/signalbox/pkg/engine/enginetest"
	"github.com/signalbox/signalbox/pkg/engine/projection"
)

type update struct {
	*projection.State
	ordered bool
}

// What a dispatcher knows depends on the newest state of each instance only. So one that
// begins with a snapshot knows what one knows that was told all of the log.
func TestTheNewestStatesSayAll(t *testing.T) {
	var ranked, queued, direct int
	rapid.Check(t, func(t *rapid.T) {
		h := enginetest.New(t)
		e := h.Engine(nil)
		enginetest.Run(t, e, func() {
			for range rapid.IntRange(0, 60).Draw(t, "commands") {
				h.Act(t, e)
			}
		})
		e.Dismiss()
		all, newest := dispatch.New(h.Definitions, nil), dispatch.New(h.Definitions, nil)
		last := map[string]update{}
		p := projection.New(projection.Config{Store: h.Store, Definitions: h.Definitions, Changed: func(s *projection.State, ordered bool) {
			all.Update(s, ordered)
			last[s.Instance.ID] = update{s, ordered}
		}})
		enginetest.Run(t, p, func() {})
		for _, u := range last {
			newest.Update(u.State, u.ordered)
		}
		got := all.Contents()
		if diff := cmp.Diff(newest.Contents(), got); diff != "" {
			t.Fatalf("-the newest states +all states:\n%s", diff)
		}
		for id, role := range got.Queued {
			if strings.Contains(role, "counted") {
				t.Fatalf("%s: %s", id, role)
			}
		}
		for id := range got.Direct {
			if in, _ := p.Known(id); !in.Direct {
				t.Fatalf("%s is in no queue: %+v", id, in)
			}
		}
		for id, u := range last {
			_, isRanked := got.Ranked[id]
			_, isDirect := got.Direct[id]
			if ready := u.Ready() != ""; isRanked != (ready && u.ordered) || isDirect != (ready && u.Instance.Direct) {
				t.Fatalf("%s is ranked: %v, direct: %v; its state is %+v", id, isRanked, isDirect, u.Instance)
			}
			all.Update(projection.Empty(id), false)
		}
		ranked, queued, direct = ranked+len(got.Ranked), queued+len(got.Queued), direct+len(got.Direct)
		none := dispatch.Contents{Ranked: map[string]dispatch.Item{}, Queued: map[string]string{}, Direct: map[string]dispatch.Item{}}
		if diff := cmp.Diff(none, all.Contents()); diff != "" {
			t.Fatalf("of nothing it knows:\n%s", diff)
		}
	})
	if ranked == 0 || queued == 0 || direct == 0 {
		t.Errorf("%d ranked, %d queued, %d direct: this proves nothing of some", ranked, queued, direct)
	}
}
