// Package client calls sb.api: typed commands and queries over NATS. A command whose reply was lost is
// sent again under the same id, so that it is carried out once.
package client

import (
	"cmp"
	"context"
	"errors"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// ErrUnavailable means that no orchestrator replied before the context ended. The command may have been
// carried out: send it again under the same id.
var ErrUnavailable = errors.New("no orchestrator answers")

// RefusedError is an ErrUnavailable with the reason that an orchestrator gave: it is there, and
// cannot do it now.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return ErrUnavailable.Error() + ": " + e.Reason }

// Is reports whether target is ErrUnavailable.
func (e *RefusedError) Is(target error) bool { return target == ErrUnavailable }

// Client sends commands and queries. It is safe for concurrent use.
type Client struct {
	nc       *nats.Conn
	actor    string
	right    string      // see For
	account  string      // see As
	header   nats.Header // of queries; read-only
	batcher  *batcher    // of agents' commands
	failover failover
}

// New returns a client that signs its commands with actor ("operator:ann", or an agent's name).
func New(nc *nats.Conn, actor string) *Client {
	return &Client{nc: nc, actor: actor, header: nats.Header{"Content-Type": {"application/protobuf"}}, batcher: newBatcher(nc),
		failover: failover{nc: nc}}
}

// For returns a client of a console that asks in the name of a person with a right: view, act or admin.
func (c *Client) For(actor, right string) *Client {
	f := New(c.nc, actor)
	f.right = right
	return f
}

// As returns a client of a console that asks as the person with an account, act-ann. On a server without accounts nobody answers it.
func (c *Client) As(account string) *Client {
	f := New(c.nc, c.actor)
	f.account = account
	return f
}

// api returns where the client sends a command or a query.
func (c *Client) api(name string) (string, error) {
	to, err := subject.API(name)
	if err != nil || c.account == "" {
		return to, err
	}
	return subject.From(c.account, to)
}

// Do sends a command of a person or of the gateway and returns the reply. A refusal is an
// *instance.Refusal.
func (c *Client) Do(ctx context.Context, name string, cmd *pb.Command) (*pb.CommandReply, error) {
	to, err := c.api(name)
	if err != nil {
		return nil, err
	}
	return c.command(ctx, to, c.alone, cmd)
}

// DoAs is Do for a command of an agent of the role. Commands of one role that are sent at about the same
// time go in one message.
func (c *Client) DoAs(ctx context.Context, role, name string, cmd *pb.Command) (*pb.CommandReply, error) {
	to, batch, err := agentSubjects(role, name)
	if err != nil {
		return nil, err
	}
	return c.command(ctx, to, func(ctx context.Context, msg *nats.Msg) ([]byte, error) {
		return c.batcher.request(ctx, batch, msg)
	}, cmd)
}

// command gives the command an id and an actor, and sends it until there is a reply.
func (c *Client) command(ctx context.Context, to string, send sender, cmd *pb.Command) (*pb.CommandReply, error) {
	cmd = &pb.Command{Id: cmd.GetId(), Instance: cmd.GetInstance(), Actor: cmp.Or(cmd.GetActor(), c.actor), Right: c.right, Action: cmd.GetAction()}
	if cmd.Id == "" {
		cmd.Id = nuid.Next()
	}
	reply := new(pb.CommandReply)
	err := c.request(ctx, &nats.Msg{Subject: to}, send, cmd, reply) // without a header: protobuf is the default of a non-empty request
	return reply, refused(cmd.Instance, reply, err)
}

// refusable is a reply that may be a refusal.
type refusable interface {
	proto.Message
	GetRefusal() *pb.Refusal
}

// refused returns err, or else the refusal that the reply is. about is its instance or query.
func refused(about string, reply refusable, err error) error {
	if no := reply.GetRefusal(); err == nil && no != nil {
		return refusal(about, no)
	}
	return err
}

func refusal(id string, p *pb.Refusal) error {
	return &instance.Refusal{Code: instance.Code(p.Code), Instance: id, What: p.Message, Allowed: p.Allowed}
}
