package client

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Migrate continues the instance under another definition of its lifecycle, named by content hash. An
// empty hash is the newest definition.
func (c *Client) Migrate(ctx context.Context, name, definition, reason string) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Migrate,
		&pb.Command{Instance: name, Action: &pb.Command_Migrate{Migrate: &pb.Migrate{Definition: definition, Reason: reason}}})
}
