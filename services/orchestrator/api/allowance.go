package api

import (
	"context"
	"errors"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/allowance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// allowances is what the forge permits, for all processes that use it. It is kept in memory:
// each process knows its own requests, whoever answers it next.
type allowances struct {
	mu   sync.Mutex
	book *allowance.Book
}

func newAllowances() *allowances { return &allowances{book: allowance.NewBook()} }

// ask answers a process as allowance.Book does.
func (a *allowances) ask(q allowance.Ask, now time.Time) (allowance.Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.book.Ask(q, now)
}

// allowance answers what a process asks about the forge's limits. It publishes a limit that is
// new.
func (s *Server) allowance(_ context.Context, r request) (proto.Message, *pb.Refusal) {
	q := new(pb.AllowanceRequest)
	if no := r.decode(q); no != nil {
		return nil, no
	}
	now := time.Now()
	answer, err := s.allowances.ask(wire.ToAsk(q, now), now)
	switch {
	case errors.Is(err, allowance.ErrFull):
		return nil, &pb.Refusal{Code: CodeUnavailable, Message: err.Error()}
	case err != nil:
		return nil, invalid("%v", err)
	}
	if answer.News {
		for _, l := range answer.Limits {
			s.Log.Info("a limit of the forge is reached", "told_by", r.party.String(), "resource", l.Resource, "until", l.Until, "words", l.Words)
		}
		s.publishLimits(q.GetHolder(), answer.Limits, now)
	}
	return wire.Allowance(answer, now), nil
}

// publishLimits publishes limits to the processes that use the forge. One that misses it gets it
// with its next write.
func (s *Server) publishLimits(holder string, limits []allowance.Limit, now time.Time) {
	data, err := wire.Marshal(&pb.AllowanceNews{Holder: holder, Limits: wire.ReachedLimits(limits, now)})
	if err == nil {
		err = s.Conn.Publish(subject.ForgeLimits, data)
	}
	if err != nil {
		s.Log.Warn("a limit of the forge is not published", "error", err)
	}
}
