package client

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Resolve resolves an escalation. Number 0 is the one that holds the instance.
func (c *Client) Resolve(ctx context.Context, name string, number int32, text string) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Resolve,
		&pb.Command{Instance: name, Action: &pb.Command_Resolve{Resolve: &pb.Resolve{Number: number, Text: text}}})
}
