package client

import (
	"context"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Open opens an instance named name. id makes the command idempotent and may be empty.
func (c *Client) Open(ctx context.Context, id, workflow, name string, issue instance.Issue) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Open, &pb.Command{Id: id, Instance: name, Action: &pb.Command_Open{
		Open: &pb.Open{Workflow: workflow, Issue: wire.Issue(issue)}}})
}

// OpenWith is Open with all fields of an Open.
func (c *Client) OpenWith(ctx context.Context, id, name string, open *pb.Open) (*pb.CommandReply, error) {
	return c.Do(ctx, subject.Open, &pb.Command{Id: id, Instance: name, Action: &pb.Command_Open{Open: open}})
}
