package client

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Resume dispatches the work of a paused instance again.
func (c *Client) Resume(ctx context.Context, name, reason string) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Resume, &pb.Command{Instance: name, Action: &pb.Command_Resume{Resume: &pb.Resume{Reason: reason}}})
}
