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

// wait queues a claim that waits for work, and returns. The reply is sent when the claim gets work, or
// when its time is over. No worker is busy meanwhile.
func (s *Server) wait(r request, p *pb.Command) {
	start := time.Now()
	c := p.GetClaim()
	claim := instance.Claim{Role: r.role, Agent: c.GetAgent(), Lease: time.Duration(c.GetLeaseMs()) * time.Millisecond}
	wait := time.Duration(c.GetWaitMs()) * time.Millisecond
	var no *pb.Refusal
	switch {
	case p.GetInstance() != "" || c.GetWork() != 0:
		no = invalid("a claim with wait_ms takes what comes: it names no instance and no work")
	case claim.Agent == "" || claim.Lease <= 0:
		no = invalid("a claim names its agent and a lease above zero")
	case wait > maxWait:
		no = invalid("wait_ms is %d, want at most %d", c.GetWaitMs(), maxWait.Milliseconds())
	case !s.begin():
		no = stopping()
	}
	if no != nil {
		s.reply(r, start, nil, no)
		return
	}
	s.Engine.Wait(claim, wait, func(out engine.Outcome, err error) {
		defer s.requests.Done()
		var reply proto.Message
		var no *pb.Refusal
		if err != nil {
			no = refusal(err)
		} else {
			reply = s.commandReply(context.Background(), r, subject.Claim, out)
		}
		s.reply(r, start, reply, no)
	})
}
