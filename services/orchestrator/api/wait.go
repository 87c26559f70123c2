package api

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// maxWait bounds how long a claim may wait for work.
const maxWait = 2 * time.Second

// wait queues a claim that waits for work, and returns, or returns the refusal of one that cannot wait.
// The reply is sent when the claim gets work, or when its time is over. No worker is busy meanwhile.
func (s *Server) wait(r request, start time.Time, p *pb.Command) *pb.Refusal {
	c := p.GetClaim()
	claim := instance.Claim{Role: r.role, Agent: c.GetAgent(), Lease: time.Duration(c.GetLeaseMs()) * time.Millisecond, Program: c.GetProgram()}
	wait := time.Duration(c.GetWaitMs()) * time.Millisecond
	switch {
	case p.GetInstance() != "" || c.GetWork() != 0:
		return invalid("a claim with wait_ms takes what comes: it names no instance and no work")
	case claim.Agent == "" || claim.Lease <= 0:
		return invalid("a claim names its agent and a lease above zero")
	case wait > maxWait:
		return invalid("wait_ms is %d, want at most %d", c.GetWaitMs(), maxWait.Milliseconds())
	case !s.begin():
		return stopping()
	}
	s.Engine.Wait(claim, wait, func(out engine.Outcome, err error) {
		defer s.requests.Done()
		var reply proto.Message
		if err == nil {
			reply = s.commandReply(context.Background(), r, subject.Claim, out)
		}
		s.reply(r, start, reply, refusal(err))
	})
	return nil
}
