package client

import (
	"cmp"
	"context"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// PendingClaim is a claim that was sent and waits for work.
type PendingClaim struct{ told <-chan answer }

// DoAsWithClaim is DoAs, and sends a claim that waits for work in the same message, before the command.
// The claim is sent once: if its reply is lost, the claim holds until its lease expires. An older
// orchestrator that takes no batches is sent the command alone.
func (c *Client) DoAsWithClaim(ctx context.Context, role, name string, cmd, claim *pb.Command) (*pb.CommandReply, PendingClaim, error) {
	to, together, err := ofAgent(role, name)
	if err != nil {
		return nil, PendingClaim{}, err
	}
	data, err := proto.Marshal(&pb.Command{Id: cmp.Or(claim.GetId(), nuid.Next()), Actor: cmp.Or(claim.GetActor(), c.actor), Action: claim.GetAction()})
	if err != nil {
		return nil, PendingClaim{}, err
	}
	var w PendingClaim
	first := true
	reply, err := c.command(ctx, to, func(ctx context.Context, msg *nats.Msg) ([]byte, error) {
		if first {
			first = false
			if work, told := c.batches.pair(together, data, msg.Data); told != nil {
				w.told = work
				return c.batches.told(ctx, told, msg)
			}
		}
		return c.batches.request(ctx, together, msg)
	}, cmd)
	return reply, w, err
}

// Wait returns the answer, once: a refusal is an *instance.Refusal, as with As. It
// is nil if there was no claim. If ctx ends before, the answer may still come.
func (w PendingClaim) Wait(ctx context.Context) (*pb.CommandReply, error) {
	if w.told == nil {
		return nil, nil
	}
	var got answer
	select {
	case got = <-w.told: // also if ctx has ended
	default:
		select {
		case got = <-w.told:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if got.err != nil {
		return nil, got.err
	}
	reply := new(pb.CommandReply)
	if err := proto.Unmarshal(got.data, reply); err != nil {
		return nil, err
	}
	if reply.Refusal != nil {
		return nil, refusal("", reply.Refusal)
	}
	return reply, nil
}

// ofAgent returns where an agent's command goes, alone and together with others.
func ofAgent(role, name string) (alone, together string, err error) {
	if alone, err = subject.Agent(role, name); err != nil {
		return "", "", err
	}
	together, err = subject.Agent(role, subject.Batch)
	return alone, together, err
}
