package agent_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent"
)

func TestIdleWorkersAskForOneMessageEachAndNoMore(t *testing.T) {
	const workers = 8
	e := newEnv(t, 40*time.Second)
	requests, err := e.js.Conn().SubscribeSync("$JS.API.CONSUMER.MSG.NEXT.EVENTS.pm")
	if err == nil {
		err = e.js.Conn().Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	e.agent("a1", works(succeed), func(c *agent.Config) { c.Workers = workers })
	for range workers {
		msg, err := requests.NextMsgWithContext(e.ctx)
		if err != nil {
			t.Fatal(err)
		}
		var request struct{ Batch int }
		if err := json.Unmarshal(msg.Data, &request); err != nil {
			t.Fatal(err)
		}
		if request.Batch != 1 {
			t.Errorf("a worker asks for %d messages", request.Batch)
		}
	}
	e.open("a") // served by the first request: its worker asks once more
	e.until("a", moved)
	e.settled()
	for {
		info, err := e.js.Consumer(e.ctx, "EVENTS", "pm")
		if err != nil {
			t.Fatal(err)
		}
		switch n := info.CachedInfo().NumWaiting; {
		case n > workers:
			t.Fatalf("%d requests are open for %d workers", n, workers)
		case n == workers:
			return
		}
	}
}
