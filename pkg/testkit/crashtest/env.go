package crashtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/agent/host"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/localforge"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Lease is the lease of a claim. It is longer than any test, so that only the test ends
// it.
const Lease = 2 * time.Hour

// caseTimeout is how long a case may take on a loaded machine.
const caseTimeout = 3 * time.Minute

// Env is a NATS server, an orchestrator and a forge, for one service.
type Env struct {
	testing.TB
	Ctx     context.Context
	Server  *natstest.Server
	Forge   *forgetest.Forge
	Client  *client.Client
	JS      jetstream.JetStream
	Service Service

	nc        *nats.Conn
	workspace *workspace.Cache // of those who work on the code
	changed   *Code
	started   int
	crashed   map[string]bool // agents that ended without releasing their claims
}

// Service is the service under test.
type Service struct {
	Name   string
	Queues []string // the consumers that deliver its work
	// Setup returns the setup of an instance that reaches the forge at the URL. The
	// directory is for this instance alone.
	Setup func(forge, dir string) func(context.Context, *service.Host) error
	// Orchestrate runs an orchestrator on the NATS server at the URL until the test ends.
	Orchestrate func(t testing.TB, url string)
	// Forge may change the settings of the forge.
	Forge func(*localforge.Config)
}

// NewEnv starts an environment.
func NewEnv(t testing.TB, of Service) *Env {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Lease/2)
	t.Cleanup(cancel)
	s := &Env{TB: t, Ctx: ctx, Server: natstest.Start(t, natstest.Options{}), Service: of, crashed: map[string]bool{}}
	of.Orchestrate(t, s.Server.URL)
	s.nc = s.Server.Connect(t)
	s.Client, s.JS = client.New(s.nc, "operator:ann"), s.Server.JetStream(t)
	s.Forge = forgetest.Start(t, forgetest.Config{
		File: "sum.txt", Text: "5\n", Forge: of.Forge,
		Users: []localforge.User{
			forgetest.Bot(), forgetest.User("ann", "admin"), forgetest.User("bob", "write"),
			{Login: "ci[bot]", Token: forgetest.Token("ci[bot]"), Type: "Bot", Permission: "write"},
		},
	})
	objects, err := host.Bucket(ctx, s.JS)
	if err == nil {
		s.workspace, err = workspace.New(workspace.Config{Dir: t.TempDir(), Objects: objects})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// instanceOf is a running instance of the service.
type instanceOf struct {
	*Link
	name   string
	ended  chan error
	cancel context.CancelFunc
	close  func()
}

// startInstance starts another instance of the service with a fault.
func (s *Env) startInstance(at FaultAt) *instanceOf {
	s.Helper()
	s.started++
	name := fmt.Sprintf("%s-%d", s.Service.Name, s.started)
	l := newLink(s.Ctx, at)
	front := l.serveForge(s.Forge.Handler())
	wires, err := l.serveNATS(s.Server.URL)
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithCancel(l) // a crashed instance does no more work
	dir, err := os.MkdirTemp(s.TempDir(), name)
	if err != nil {
		s.Fatal(err)
	}
	setup := s.Service.Setup(l.Forge, dir)
	i := &instanceOf{Link: l, name: name, ended: make(chan error, 1), cancel: cancel,
		close: func() { _ = wires.Close(); front.CloseClientConnections(); front.Close() }}
	go func() {
		i.ended <- service.Serve(ctx, service.Config{
			Service: s.Service.Name, Flags: service.Flags{Name: name, NATS: service.NATS{URL: l.NATS}, Grace: time.Minute},
			Log: slog.New(slog.DiscardHandler),
			Setup: func(ctx context.Context, h *service.Host) error {
				context.AfterFunc(l, h.NATS.Close)
				return setup(ctx, h)
			},
			Options: []nats.Option{nats.NoReconnect()},
		})
	}()
	return i
}

// stopInstance stops the instance as a shutdown does, and waits for its end.
func (s *Env) stopInstance(i *instanceOf) {
	s.Helper()
	dead := i.Err() != nil
	if dead {
		s.crashed[i.name] = true
	}
	i.cancel()
	err := <-i.ended
	i.crash()
	i.close()
	i.connections.Wait()
	if err != nil && !dead {
		s.Errorf("%s ended with %v", s.Service.Name, err)
	}
}

// expireLease does what time does after a crash: messages are redelivered and the lease
// ends.
func (s *Env) expireLease(id string) {
	s.Helper()
	for _, queue := range s.Service.Queues {
		if err := s.redeliver(queue); err != nil {
			s.Fatal(err)
		}
	}
	in, err := s.Client.Get(s.Ctx, id)
	if err != nil && !errors.As(err, new(*instance.Refusal)) {
		s.Fatal(err)
	}
	s.endLease(in)
}

// endDeadLease ends the lease of a crashed instance. A claim that waited at the
// orchestrator may give it work after its end.
func (s *Env) endDeadLease(in *pb.Instance) {
	s.Helper()
	if s.crashed[in.GetClaim().GetAgent()] {
		s.endLease(in)
	}
}

// endLease ends the lease of the claim, if there is one.
func (s *Env) endLease(in *pb.Instance) {
	s.Helper()
	claim := in.GetClaim()
	if claim == nil {
		return
	}
	_, err := s.Client.DoAs(s.Ctx, claim.GetRole(), subject.Release,
		&pb.Command{Instance: in.GetInstance(), Actor: claim.GetAgent(), Action: &pb.Command_Release{
			Release: &pb.Release{Token: claim.GetToken(), Reason: "its lease has run out"}}})
	if err != nil {
		s.Fatal(errors.Join(err, s.Ctx.Err()))
	}
}
