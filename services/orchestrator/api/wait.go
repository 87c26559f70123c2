package api

import (
	"context"
	"time"

	"github.com/nats-io/nats.go/micro"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// longest is for how long a claim may wait for work.
const longest = 2 * time.Second

// waits reports whether a command is a claim that waits for work.
func waits(p *pb.Command) bool { return p.GetClaim().GetWaitMs() > 0 }

// wait has a claim wait for work, and told called with the answer. Nobody is kept
// busy by it meanwhile.
func (s *Server) wait(role string, p *pb.Command, told func(engine.Outcome, *pb.Refusal)) {
	claim := p.GetClaim()
	take := instance.Claim{Role: role, Agent: claim.GetAgent(), Lease: time.Duration(claim.GetLeaseMs()) * time.Millisecond}
	wait := time.Duration(claim.GetWaitMs()) * time.Millisecond
	var no *pb.Refusal
	switch {
	case p.GetInstance() != "" || claim.GetWork() != 0:
		no = invalid("a claim with wait_ms takes what comes: it names no instance and no work")
	case take.Agent == "" || take.Lease <= 0:
		no = invalid("a claim names its agent and a lease above zero")
	case wait > longest:
		no = invalid("wait_ms is %d, want at most %d", claim.GetWaitMs(), longest.Milliseconds())
	case !s.begin():
		no = stopping()
	}
	if no != nil {
		told(engine.Outcome{}, no)
		return
	}
	start := time.Now()
	s.Engine.Wait(take, wait, func(out engine.Outcome, err error) {
		defer s.requests.Done()
		var no *pb.Refusal
		if err != nil {
			no = refusal(err)
		}
		told(out, no)
		if s.Answered != nil {
			s.Answered("agent-"+subject.Claim, no.GetCode(), time.Since(start))
		}
	})
}

// claims answers claims that come alone.
func (s *Server) claims(e endpoint) micro.Handler {
	at := s.concurrently(e)
	return micro.HandlerFunc(func(m micro.Request) {
		r, no := read(m)
		p := new(pb.Command)
		if no != nil || r.decode(p) != nil || !waits(p) {
			at.Handle(m)
			return
		}
		role, _, _ := subject.ParseAgent(r.subject)
		s.wait(role, p, func(out engine.Outcome, no *pb.Refusal) {
			data, header, _ := s.encode(r, refused, s.replies(context.Background(), subject.Claim, role, out, no), no)
			s.send(m, data, header)
		})
	})
}
