package client

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Pause stops the dispatch of the instance's work.
func (c *Client) Pause(ctx context.Context, name, reason string) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Pause, &pb.Command{Instance: name, Action: &pb.Command_Pause{Pause: &pb.Pause{Reason: reason}}})
}
