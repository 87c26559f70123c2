package client

import (
	"context"

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
	if err := c.query(ctx, subject.Get, &pb.GetRequest{Instance: id}, reply); err != nil {
		return nil, err
	}
	if no := reply.Refusal; no != nil {
		if no.GetCode() == string(instance.CodeUnknownInstance) { // nothing was learned
			return nil, nil
		}
		return nil, refusal(id, no)
	}
	return wire.ToLearnings(reply.Learnings), nil
}
