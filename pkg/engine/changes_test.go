package engine_test

import (
	"slices"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection"
)

func TestWhoFollowsNotesWhatChanged(t *testing.T) {
	w := newEnv(t)
	w.finish(w.engine(), "a") // before it follows
	e := w.engine()
	one, two := e.Changes(), e.Changes()
	w.follow(e)
	<-one.More()
	if got := one.Take(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("at the start it has %v", got)
	}
	w.do(e, "c", open("its own"))
	w.do(w.engine(), "b", open("another's"))
	if got := noted(one, 2); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("then it has %v", got)
	}
	if got := noted(two, 3); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("who never looked has %v", got)
	}
	if in, ok := e.Known("b"); !ok || in.State != "todo" {
		t.Errorf("of b it knows %+v", in)
	}
	if in, ok := e.Known("a"); !ok || in.Closed != instance.Ended {
		t.Errorf("of a it knows %+v", in)
	}
	if _, ok := e.Known("d"); ok {
		t.Error("it knows what was never opened")
	}
}

// noted takes until there were n instances.
func noted(c *projection.Changes, n int) []string {
	var got []string
	for len(got) < n {
		<-c.More()
		got = append(got, c.Take()...)
	}
	slices.Sort(got)
	return got
}
