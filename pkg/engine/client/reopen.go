package client

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Reopen starts an instance again that has ended. It starts in the state to or, if that is
// empty, where it was cancelled or ended.
func (c *Client) Reopen(ctx context.Context, name, to, reason string) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Reopen,
		&pb.Command{Instance: name, Action: &pb.Command_Reopen{Reopen: &pb.Reopen{To: to, Reason: reason}}})
}
