package client

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Get returns one instance.
func (c *Client) Get(ctx context.Context, id string) (*pb.Instance, error) {
	reply := new(pb.GetReply)
	err := c.query(ctx, subject.Get, id, &pb.GetRequest{Instance: id}, reply)
	return reply.Instance, err
}

// List returns all instances that match, page by page.
func (c *Client) List(ctx context.Context, q *pb.ListRequest) ([]*pb.Summary, error) {
	q = proto.CloneOf(q)
	var all []*pb.Summary
	for {
		reply, err := c.ListPage(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, reply.Instances...)
		if reply.Next == "" {
			return all, nil
		}
		q.After = reply.Next
	}
}

// ListPage returns one page of the instances that match: those after q.After.
func (c *Client) ListPage(ctx context.Context, q *pb.ListRequest) (*pb.ListReply, error) {
	reply := new(pb.ListReply)
	return reply, c.query(ctx, subject.List, "list", q, reply)
}

// History returns the commits of an instance after the given sequence.
func (c *Client) History(ctx context.Context, id string, after uint64) ([]*pb.Record, error) {
	return c.Past(ctx, &pb.HistoryRequest{Instance: id, After: after})
}

// Past returns the commits of an instance that are asked for. An orchestrator of an older version may return later ones, too.
func (c *Client) Past(ctx context.Context, q *pb.HistoryRequest) ([]*pb.Record, error) {
	var all []*pb.Record
	for q = proto.CloneOf(q); ; q.After = all[len(all)-1].Seq {
		reply := new(pb.HistoryReply)
		if err := c.query(ctx, subject.History, q.Instance, q, reply); err != nil {
			return nil, err
		}
		all = append(all, reply.Commits...)
		if !reply.More || len(reply.Commits) == 0 {
			return all, nil
		}
	}
}

// Definition returns the canonical source of a lifecycle by name or content hash. For an empty name the
// reply lists the names. A source that does not have the hash of the reply is a workflow.ErrFalseHash.
func (c *Client) Definition(ctx context.Context, name string) (*pb.DefinitionReply, error) {
	reply := new(pb.DefinitionReply)
	err := c.query(ctx, subject.Definition, name, &pb.DefinitionRequest{Name: name}, reply)
	if err == nil && len(reply.Source) > 0 {
		err = workflow.CheckHash(reply.Hash, reply.Source)
	}
	return reply, err
}

// Definitions returns the current definition of each lifecycle.
func (c *Client) Definitions(ctx context.Context) ([]*workflow.Definition, error) {
	reply, err := c.Definition(ctx, "")
	if err != nil {
		return nil, err
	}
	var all []*workflow.Definition
	for _, name := range reply.GetNames() {
		reply, err := c.Definition(ctx, name)
		if err != nil {
			return nil, err
		}
		d, err := workflow.Load(name, reply.GetSource())
		if err != nil {
			return nil, fmt.Errorf("the definition of %s: %w", name, err)
		}
		all = append(all, d)
	}
	return all, nil
}

// Counts returns how many instances there are, by lifecycle and state.
func (c *Client) Counts(ctx context.Context, q *pb.CountsRequest) (*pb.CountsReply, error) {
	reply := new(pb.CountsReply)
	return reply, c.query(ctx, subject.Counts, subject.Counts, q, reply)
}

// Agents returns the work of each role, and who does it.
func (c *Client) Agents(ctx context.Context) ([]*pb.RoleWork, error) {
	reply := new(pb.AgentsReply)
	err := c.query(ctx, subject.Agents, subject.Agents, &pb.AgentsRequest{}, reply)
	return reply.GetRoles(), err
}

// Costs returns what steps cost. The first reply after the start of an orchestrator may have read only a part of the log: see
// its field reading.
func (c *Client) Costs(ctx context.Context, q *pb.CostsRequest) (*pb.CostsReply, error) {
	reply := new(pb.CostsReply)
	return reply, c.query(ctx, subject.Costs, subject.Costs, q, reply)
}

// Health returns the state of each part of the system, those that fail first.
func (c *Client) Health(ctx context.Context) ([]*pb.HealthCheck, error) {
	reply := new(pb.HealthReply)
	err := c.query(ctx, subject.Health, subject.Health, &pb.HealthRequest{}, reply)
	return reply.GetChecks(), err
}

// Explain returns why an instance stands where it is, and what would move it.
func (c *Client) Explain(ctx context.Context, id string) (*pb.ExplainReply, error) {
	reply := new(pb.ExplainReply)
	return reply, c.query(ctx, subject.Explain, id, &pb.ExplainRequest{Instance: id}, reply)
}

// query sends a query. An error that is a refusal names about: the instance or the query.
func (c *Client) query(ctx context.Context, name, about string, q proto.Message, reply refusable) error {
	to, err := c.api(name)
	if err != nil {
		return err
	}
	return refused(about, reply, c.request(ctx, &nats.Msg{Subject: to, Header: c.header}, c.alone, q, reply))
}
