package client

import (
	"cmp"
	"context"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// PendingClaim is a claim that was sent and waits for work.
type PendingClaim struct{ done <-chan result }

// DoAsWithClaim is DoAs, and sends a claim that waits for work in the same message, before the command.
// The claim is sent once: if its reply is lost, the claim holds until its lease expires. An older
// orchestrator that takes no batches is sent the command alone.
func (c *Client) DoAsWithClaim(ctx context.Context, role, name string, cmd, claim *pb.Command) (*pb.CommandReply, PendingClaim, error) {
	to, batch, err := agentSubjects(role, name)
	if err != nil {
		return nil, PendingClaim{}, err
	}
	data, err := proto.Marshal(&pb.Command{Id: cmp.Or(claim.GetId(), nuid.Next()), Actor: cmp.Or(claim.GetActor(), c.actor),
		Action: claim.GetAction()})
	if err != nil {
		return nil, PendingClaim{}, err
	}
	var pending PendingClaim
	first := true
	reply, err := c.command(ctx, to, func(ctx context.Context, msg *nats.Msg) ([]byte, error) {
		if first {
			first = false
			if claimed, done := c.batcher.sendWithClaim(batch, data, msg.Data); done != nil {
				pending.done = claimed
				return c.batcher.await(ctx, done, msg)
			}
		}
		return c.batcher.request(ctx, batch, msg)
	}, cmd)
	return reply, pending, err
}

// Wait returns the reply to the claim, or nil if none was sent. A refusal is an *instance.Refusal. Wait
// may be called again after it returned ctx's error: the reply may come later.
func (p PendingClaim) Wait(ctx context.Context) (*pb.CommandReply, error) {
	if p.done == nil {
		return nil, nil
	}
	var got result
	select {
	case got = <-p.done: // also if ctx has ended
	default:
		select {
		case got = <-p.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if got.err != nil {
		return nil, got.err
	}
	reply := new(pb.CommandReply)
	if err := wire.Unmarshal(got.data, reply); err != nil {
		return nil, err
	}
	if reply.Refusal != nil {
		return nil, refusal("", reply.Refusal)
	}
	return reply, nil
}

// agentSubjects returns the subjects of an agent's command, and of a batch with it.
func agentSubjects(role, name string) (alone, batch string, err error) {
	if alone, err = subject.Agent(role, name); err != nil {
		return "", "", err
	}
	batch, err = subject.Agent(role, subject.Batch)
	return alone, batch, err
}
