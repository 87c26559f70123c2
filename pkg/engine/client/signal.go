package client

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Signal sends a named signal, with evidence that guards may read. ref identifies the signal at its source
// and makes the command idempotent.
func (c *Client) Signal(
	ctx context.Context, name, signal, ref, actor string, data map[string]string, evidence ...instance.Evidence,
) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Signal, &pb.Command{Id: ref, Instance: name, Actor: actor, Action: &pb.Command_Signal{
		Signal: &pb.Signal{Name: signal, Ref: ref, Data: data, Evidence: wire.Evidence(evidence)}}})
}
