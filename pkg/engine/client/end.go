package client

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// End reports to the instance named name the end of one that it is linked to. id makes the command
// idempotent.
func (c *Client) End(ctx context.Context, id, name string, end *pb.End) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.End, &pb.Command{Id: id, Instance: name, Action: &pb.Command_End{End: end}})
}
