package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
)

// linearLoad runs many clients on few instances.
type linearLoad struct {
	clients   []*nats.Conn
	perClient int // commands and queries per client
	slots     int // instances at a time
	seed      uint64

	began    time.Time
	answers  atomic.Int64 // replies received
	attempts atomic.Int64 // messages sent
	mu       sync.Mutex
	observed []observedState // newest state in a reply, by slot
	names    []string        // instance ids, by slot
	earlier  []input         // commands sent before
	sends    []attempt
}

// run returns when every client has sent all its commands and queries.
func (r *linearLoad) run(ctx context.Context) {
	r.began = time.Now()
	r.observed, r.names = make([]observedState, r.slots), make([]string, r.slots)
	for i := range r.names {
		r.names[i] = fmt.Sprintf("relay/%d", i)
	}
	var wg sync.WaitGroup
	for i, nc := range r.clients {
		dice := rand.New(rand.NewPCG(r.seed, uint64(i)))
		wg.Go(func() {
			for n := 0; n < r.perClient && ctx.Err() == nil; n++ {
				slot := dice.IntN(r.slots)
				r.sendUntilAnswered(ctx, nc, dice, slot, r.nextInput(dice, slot, fmt.Sprintf("%d-%d", i, n)))
			}
		})
	}
	wg.Wait()
}

// sendUntilAnswered sends a command until it is answered or the client gives up. It
// sends some commands more often.
func (r *linearLoad) sendUntilAnswered(ctx context.Context, nc *nats.Conn, dice *rand.Rand, slot int, in input) {
	var twice sync.WaitGroup
	if dice.IntN(12) == 0 {
		twice.Go(func() { r.record(slot, in.send(ctx, nc, r.began)) })
	}
	for try := 0; ; try++ {
		s := in.send(ctx, nc, r.began)
		r.record(slot, s)
		if s.answered && dice.IntN(20) != 0 || try == 3 || ctx.Err() != nil {
			break
		}
	}
	twice.Wait()
}

// record keeps an attempt and the state in its reply.
func (r *linearLoad) record(slot int, s attempt) {
	r.attempts.Add(1)
	if s.answered {
		r.answers.Add(1)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sends = append(r.sends, s)
	if s.Observed == nil || s.Instance != r.names[slot] {
		return
	}
	if s.Observed.Seq > r.observed[slot].Seq {
		r.observed[slot] = *s.Observed
	}
	if s.Kind != "get" {
		r.earlier = append(r.earlier, s.input)
	}
}

// nextInput draws a command or query for the instance of a slot. A closed instance
// is used a few times more and then replaced.
func (r *linearLoad) nextInput(dice *rand.Rand, slot int, id string) input {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.observed[slot]
	if now.Closed != "" && dice.IntN(12) == 0 {
		r.names[slot], now = fmt.Sprintf("relay/%d-%s", slot, id), observedState{}
		r.observed[slot] = now
	}
	if n := len(r.earlier); n > 0 && dice.IntN(25) == 0 { // a late duplicate
		return r.earlier[n-1-dice.IntN(min(n, 200))]
	}
	in := input{ID: id, Instance: r.names[slot], Kind: "open"}
	if now.State == "" && dice.IntN(3) > 0 {
		return in
	}
	kinds := []string{"get", "get", "claim", "claim", "heartbeat", "release", "fail", "note", "signal", "pause", "report"}
	switch {
	case now.Paused && dice.IntN(2) == 0:
		kinds = []string{"resume"}
	case now.Token != 0 && dice.IntN(2) == 0:
		kinds = []string{"report"}
	case now.State == "rest" && dice.IntN(2) == 0:
		kinds = []string{"signal"}
	case now.Token == 0 && dice.IntN(2) == 0:
		kinds = []string{"claim"}
	case dice.IntN(150) == 0:
		kinds = []string{"cancel", "open"}
	}
	in.Kind = kinds[dice.IntN(len(kinds))]
	switch in.Kind {
	case "claim", "heartbeat", "release", "fail", "report":
		in.Role, in.Agent = "runner", fmt.Sprint("a", dice.IntN(9))
		if now.State == "check" != (dice.IntN(12) == 0) {
			in.Role = "judge"
		}
		in.Work, in.Token = now.Work, now.Token
		if dice.IntN(12) == 0 { // stale, or unknown
			in.Work, in.Token = now.Work-min(now.Work, 1), now.Token+uint32(dice.IntN(2))
		}
		in.Status = []string{"success", "success", "failure", "blocked"}[dice.IntN(4)]
	}
	return in
}
