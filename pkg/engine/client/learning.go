package client

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/learning"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Learnings returns what was learned of a repository: what counts first, the newest first.
func (c *Client) Learnings(ctx context.Context, repo string) ([]learning.Learning, error) {
	reply := new(pb.GetReply)
	id := learning.Record(repo)
	err := c.query(ctx, subject.Get, id, &pb.GetRequest{Instance: id}, reply)
	if no, ok := errors.AsType[*instance.Refusal](err); ok && no.Code == instance.CodeUnknownInstance { // nothing was learned
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return wire.ToLearnings(reply.Learnings), nil
}
