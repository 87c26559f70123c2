package client

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Cancel closes the instance in its present state.
func (c *Client) Cancel(ctx context.Context, name, reason string) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Cancel, &pb.Command{Instance: name, Action: &pb.Command_Cancel{Cancel: &pb.Cancel{Reason: reason}}})
}
