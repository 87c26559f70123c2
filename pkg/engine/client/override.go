package client

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Override moves the instance to any state, whether its lifecycle permits the move or not.
func (c *Client) Override(ctx context.Context, name, to, reason string) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Override,
		&pb.Command{Instance: name, Action: &pb.Command_Override{Override: &pb.Override{To: to, Reason: reason}}})
}
