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

// A consumer has 512 open pull requests at most, nats-server's default. A worker beyond
// them says so, keeps asking, and gets work as soon as there is room.
func TestAWorkerBeyondTheConsumersRequestsSaysSoAndGetsWorkOnceThereIsRoom(t *testing.T) {
	const room = 512
	e := newEnv(t, 40*time.Second)
	crowd := e.agent("a1", works(succeed), func(c *agent.Config) { c.Workers = room })
	for {
		info, err := e.js.Consumer(e.ctx, "EVENTS", "pm")
		if err != nil {
			t.Fatal(err)
		}
		if info.CachedInfo().NumWaiting == room {
			break
		}
	}
	late := e.agent("a2", works(succeed))
	e.logged(late, "cannot take work; trying again")
	crowd.stop()
	e.open("a")
	e.until("a", moved)
}
