package app

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
)

func TestAMoveIsCountedOnceWithTheStayBeforeIt(t *testing.T) {
	f := newFlow()
	move := func(seq uint64, id string, at time.Duration, events ...instance.Event) {
		f.add("issue", client.LogEntry{Event: subject.Event{Instance: id}, Commit: instance.Commit{Seq: seq, At: nine.Add(at), Events: events}})
	}
	there, back := instance.Moved{From: "a", To: "b"}, instance.Moved{From: "b", To: "a"}
	move(1, "x", 0, instance.Opened{Workflow: "issue", State: "a"})
	move(2, "x", time.Minute, there)
	move(2, "x", time.Minute, there) // read again
	move(3, "x", 3*time.Minute, back)
	move(4, "y", 4*time.Minute, there) // its entry is not known
	move(5, "x", 8*time.Minute, there)
	moves, since := f.of("issue")
	if m := moves[[2]string{"a", "b"}]; m.Times != 3 || len(m.stays) != 2 || m.Stay() != 5*time.Minute || !since.Equal(nine) {
		t.Errorf("there: %+v since %s", m, since)
	}
	if m := moves[[2]string{"b", "a"}]; m.Times != 1 || m.Stay() != 2*time.Minute {
		t.Errorf("back: %+v", m)
	}
	if moves, _ := f.of("story"); len(moves) != 0 {
		t.Errorf("another lifecycle has %+v", moves)
	}
}

func TestFewStaysAreKept(t *testing.T) {
	f := newFlow()
	for i := range 1000 {
		f.add("issue", client.LogEntry{Event: subject.Event{Instance: "x"}, Commit: instance.Commit{Seq: uint64(i + 1), At: nine.Add(time.Duration(i) * time.Second),
			Events: []instance.Event{instance.Moved{From: "a", To: "a"}}}})
	}
	moves, _ := f.of("issue")
	if m := moves[[2]string{"a", "a"}]; m.Times != 1000 || len(m.stays) != maxStays || m.Stay() != time.Second {
		t.Errorf("%d moves, %d stays, %s", m.Times, len(m.stays), m.Stay())
	}
}

func TestAStayHasOneUnit(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "", time.Millisecond: "<1s", 59 * time.Second: "59s", 90 * time.Minute: "1h", 36 * time.Hour: "36h", 50 * time.Hour: "2d"} {
		if got := stay(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}
