package client

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Note adds a note to the instance.
func (c *Client) Note(ctx context.Context, name, kind, text string) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Note, &pb.Command{Instance: name, Action: &pb.Command_Note{Note: &pb.Note{Kind: kind, Text: text}}})
}
