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

// race is many clients on few instances, all at once.
type linearLoad struct {
	clients   []*nats.Conn
	perClient int // commands and queries a client
	slots     int // instances at a time
	seed      uint64

	began    time.Time
	answers  atomic.Int64 // answers
	attempts atomic.Int64 // sends
	mu       sync.Mutex
	observed []observedState // what the newest answer said, by place: for meaningful commands
	names    []string        // of the instances, by place
	earlier  []input         // commands of a while ago
	sends    []attempt
}

// run returns when every client has asked all its questions.
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
				place := dice.IntN(r.slots)
				r.sendUntilAnswered(ctx, nc, dice, place, r.nextInput(dice, place, fmt.Sprintf("%d-%d", i, n)))
			}
		})
	}
	wg.Wait()
}

// carry sends a command until it is answered or its client gives up, and now and
// then more often than that.
func (r *linearLoad) sendUntilAnswered(ctx context.Context, nc *nats.Conn, dice *rand.Rand, place int, in input) {
	var twice sync.WaitGroup
	if dice.IntN(12) == 0 {
		twice.Go(func() { r.record(place, in.send(ctx, nc, r.began)) })
	}
	for try := 0; ; try++ {
		s := in.send(ctx, nc, r.began)
		r.record(place, s)
		if s.answered && dice.IntN(20) != 0 || try == 3 || ctx.Err() != nil {
			break
		}
	}
	twice.Wait()
}

// note keeps what was sent, and what it tells.
func (r *linearLoad) record(place int, s attempt) {
	r.attempts.Add(1)
	if s.answered {
		r.answers.Add(1)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sends = append(r.sends, s)
	if s.Observed == nil || s.Instance != r.names[place] {
		return
	}
	if s.Observed.Seq > r.observed[place].Seq {
		r.observed[place] = *s.Observed
	}
	if s.Kind != "get" {
		r.earlier = append(r.earlier, s.input)
	}
}

// choose draws what to ask about the instance of a place. What has ended is
// asked about a few times more, and then makes room for another.
func (r *linearLoad) nextInput(dice *rand.Rand, place int, id string) input {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.observed[place]
	if now.Closed != "" && dice.IntN(12) == 0 {
		r.names[place], now = fmt.Sprintf("relay/%d-%s", place, id), observedState{}
		r.observed[place] = now
	}
	if n := len(r.earlier); n > 0 && dice.IntN(25) == 0 { // once more, long after
		return r.earlier[n-1-dice.IntN(min(n, 200))]
	}
	in := input{ID: id, Instance: r.names[place], Kind: "open"}
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
		if dice.IntN(12) == 0 { // of the past, or nobody's
			in.Work, in.Token = now.Work-min(now.Work, 1), now.Token+uint32(dice.IntN(2))
		}
		in.Status = []string{"success", "success", "failure", "blocked"}[dice.IntN(4)]
	}
	return in
}
