package agent_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
)

func TestIdleHandsAskTogetherForNoMoreThanTheyAre(t *testing.T) {
	w := newWorld(t, 40*time.Second)
	asked, err := w.js.Conn().SubscribeSync("$JS.API.CONSUMER.MSG.NEXT.EVENTS.pm")
	if err == nil {
		err = w.js.Conn().Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	w.agent("a1", works(succeed), func(c *agent.Config) { c.Workers = 8 })
	var batches []int
	for range 4 {
		msg, err := asked.NextMsgWithContext(w.ctx)
		if err != nil {
			t.Fatalf("after %v: %v", batches, err)
		}
		var request struct{ Batch int }
		if err := json.Unmarshal(msg.Data, &request); err != nil {
			t.Fatal(err)
		}
		batches = append(batches, request.Batch)
	}
	if !slices.Equal(batches, []int{1, 1, 2, 4}) {
		t.Errorf("eight hands asked for %v", batches)
	}
}
