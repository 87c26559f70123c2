// Package client speaks sb.api: typed commands and queries over NATS. A command
// whose answer was lost is sent again under the same id, so that it is carried
// out once.
package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// ErrUnavailable says that no orchestrator answered within the context.
var ErrUnavailable = errors.New("no orchestrator answers")

// Client sends commands and queries. It is safe for concurrent use.
type Client struct {
	nc      *nats.Conn
	actor   string
	header  nats.Header // of queries; nobody writes to it
	batches batches     // of agents' commands
	silence silence
}

// New returns a client that signs its commands with actor ("operator:ann", or
// an agent's name).
func New(nc *nats.Conn, actor string) *Client {
	return &Client{nc: nc, actor: actor, header: nats.Header{"Content-Type": {"application/protobuf"}}, batches: batches{nc: nc}, silence: silence{nc: nc}}
}

// Do sends a command of people or of the gateway and returns the answer. A
// refusal is an *instance.Refusal.
func (c *Client) Do(ctx context.Context, name string, cmd *pb.Command) (*pb.CommandReply, error) {
	to, err := subject.API(name)
	if err != nil {
		return nil, err
	}
	return c.command(ctx, to, c.alone, cmd)
}

// As sends a command of an agent of the role, together with others of that role
// that are given at the same time.
func (c *Client) As(ctx context.Context, role, name string, cmd *pb.Command) (*pb.CommandReply, error) {
	to, together, err := ofAgent(role, name)
	if err != nil {
		return nil, err
	}
	return c.command(ctx, to, func(ctx context.Context, msg *nats.Msg) ([]byte, error) {
		return c.batches.request(ctx, together, msg)
	}, cmd)
}

func (c *Client) command(ctx context.Context, to string, ask asker, cmd *pb.Command) (*pb.CommandReply, error) {
	cmd = &pb.Command{Id: cmd.GetId(), Instance: cmd.GetInstance(), Actor: cmp.Or(cmd.GetActor(), c.actor), Action: cmd.GetAction()}
	if cmd.Id == "" {
		cmd.Id = nuid.Next()
	}
	reply := new(pb.CommandReply)
	err := c.request(ctx, &nats.Msg{Subject: to}, ask, cmd, reply) // protobuf with something in it says itself what it is
	if err == nil && reply.Refusal != nil {
		err = refusal(cmd.Instance, reply.Refusal)
	}
	return reply, err
}

// Get returns one instance.
func (c *Client) Get(ctx context.Context, id string) (*pb.Instance, error) {
	reply := new(pb.GetReply)
	err := c.query(ctx, subject.Get, &pb.GetRequest{Instance: id}, reply)
	if err == nil && reply.Refusal != nil {
		err = refusal(id, reply.Refusal)
	}
	return reply.Instance, err
}

// List returns all instances that match, page by page.
func (c *Client) List(ctx context.Context, q *pb.ListRequest) ([]*pb.Summary, error) {
	q = proto.CloneOf(q)
	var all []*pb.Summary
	for {
		reply := new(pb.ListReply)
		if err := c.query(ctx, subject.List, q, reply); err != nil {
			return nil, err
		}
		if reply.Refusal != nil {
			return nil, refusal("list", reply.Refusal)
		}
		all = append(all, reply.Instances...)
		if reply.Next == "" {
			return all, nil
		}
		q.After = reply.Next
	}
}

// History returns the commits of an instance behind the given sequence.
func (c *Client) History(ctx context.Context, id string, after uint64) ([]*pb.Record, error) {
	var all []*pb.Record
	for {
		reply := new(pb.HistoryReply)
		if err := c.query(ctx, subject.History, &pb.HistoryRequest{Instance: id, After: after}, reply); err != nil {
			return nil, err
		}
		if reply.Refusal != nil {
			return nil, refusal(id, reply.Refusal)
		}
		all = append(all, reply.Commits...)
		if !reply.More || len(reply.Commits) == 0 {
			return all, nil
		}
		after = all[len(all)-1].Seq
	}
}

// Definition returns the canonical source of a lifecycle by name or content
// hash; for an empty name the reply lists the names.
func (c *Client) Definition(ctx context.Context, name string) (*pb.DefinitionReply, error) {
	reply := new(pb.DefinitionReply)
	err := c.query(ctx, subject.Definition, &pb.DefinitionRequest{Name: name}, reply)
	if err == nil && reply.Refusal != nil {
		err = refusal(name, reply.Refusal)
	}
	return reply, err
}

func (c *Client) query(ctx context.Context, name string, q, reply proto.Message) error {
	to, err := subject.API(name)
	if err != nil {
		return err
	}
	return c.request(ctx, &nats.Msg{Subject: to, Header: c.header}, c.alone, q, reply)
}

// asker sends one request once, and returns the data of its answer.
type asker func(ctx context.Context, msg *nats.Msg) ([]byte, error)

func (c *Client) alone(ctx context.Context, msg *nats.Msg) ([]byte, error) {
	return ask(ctx, c.nc, msg)
}

func ask(ctx context.Context, nc conn, msg *nats.Msg) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, perTry)
	defer cancel()
	got, err := nc.RequestMsgWithContext(ctx, msg)
	if err != nil {
		return nil, err
	}
	return got.Data, nil
}

const (
	// perTry is how long one try waits for its answer.
	perTry = 5 * time.Second
	// quickTry is how long the first quickTries do: an orchestrator that was killed
	// or is paused answers none of those it has, and another is soon there. Sent
	// again a command costs little, and is carried out once.
	quickTry   = 1500 * time.Millisecond
	quickTries = 3
)

// request asks until there is an answer or ctx ends, which is ErrUnavailable.
func (c *Client) request(ctx context.Context, msg *nats.Msg, ask asker, q, reply proto.Message) (err error) {
	if msg.Data, err = proto.Marshal(q); err != nil {
		return err
	}
	last := c.tryFor(ctx, quickTry, msg, ask, reply)
	if last == nil { // as nearly always
		return nil
	}
	failed, quick := last, quickTries
	_, err = backoff.Retry(ctx, func() (struct{}, error) {
		err := failed
		if failed = nil; err == nil {
			atMost := perTry
			if quick > 0 {
				atMost = quickTry
			}
			err = c.tryFor(ctx, atMost, msg, ask, reply)
		}
		if errors.Is(err, context.DeadlineExceeded) {
			quick--
		}
		if ctx.Err() == nil { // a try cut short has nothing to tell
			last = err
		}
		return struct{}{}, err
	}, backoff.WithBackOff(pauses()), backoff.WithMaxElapsedTime(0))
	if errors.Is(last, ErrUnavailable) {
		return fmt.Errorf("%w; until then: %w", err, last)
	}
	return err
}

// pauses are those between tries.
func pauses() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = 20*time.Millisecond, 2*time.Second
	return b
}

func (c *Client) tryFor(ctx context.Context, atMost time.Duration, msg *nats.Msg, ask asker, reply proto.Message) error {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	return c.try(ctx, msg, ask, reply)
}

func (c *Client) try(ctx context.Context, msg *nats.Msg, ask asker, reply proto.Message) error {
	began := time.Now()
	data, err := ask(ctx, msg)
	if err == nil {
		c.silence.broken()
	} else {
		c.silence.goesOn(began, err)
	}
	switch {
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrMaxPayload), errors.Is(err, nats.ErrBadSubject):
		return backoff.Permanent(err)
	case err != nil:
		return fmt.Errorf("%w on %s: %w", ErrUnavailable, msg.Subject, err)
	}
	if err := proto.Unmarshal(data, reply); err != nil {
		return backoff.Permanent(fmt.Errorf("answer on %s: %w", msg.Subject, err))
	}
	if r, ok := reply.(interface{ GetRefusal() *pb.Refusal }); ok && r.GetRefusal().GetCode() == "unavailable" {
		return fmt.Errorf("%w: %s", ErrUnavailable, r.GetRefusal().GetMessage())
	}
	return nil
}

func refusal(id string, p *pb.Refusal) error {
	return &instance.Refusal{Code: instance.Code(p.Code), Instance: id, What: p.Message, Allowed: p.Allowed}
}
