package client

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Retry dispatches the owner's work again.
func (c *Client) Retry(ctx context.Context, name, reason string) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Retry, &pb.Command{Instance: name, Action: &pb.Command_Retry{Retry: &pb.Retry{Reason: reason}}})
}
