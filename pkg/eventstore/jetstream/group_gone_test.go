package jetstream

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"
)

// In a cluster without a leader all that wait give up at about the same time.
func TestATurnIsNotGivenToWhoHasGone(t *testing.T) {
	g := &group{}
	enter := func(n int) *ticket {
		return g.enter(entry{instance: fmt.Sprint(n), msg: &nats.Msg{Subject: "a"}})
	}
	if enter(0) != nil {
		t.Fatal("something is under way")
	}
	var waiting []*ticket
	for n := range leastGroup {
		waiting = append(waiting, enter(n+1))
	}
	g.leave()
	g.withdraw(waiting[1])
	g.withdraw(waiting[0])
	told := <-waiting[2].turn
	if len(told.batch) != leastGroup-2 || told.batch[0] != waiting[2] {
		t.Fatalf("it is told to send for %d, want %d, itself first", len(told.batch), leastGroup-2)
	}
	waiting[2].turn <- told
	for i := range waiting {
		g.withdraw(waiting[len(waiting)-1-i])
	}
	if enter(99) != nil {
		t.Error("all have gone, and nobody may append")
	}
}
