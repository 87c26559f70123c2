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

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/agent/workspace"
	"github.com/signalbox/signalbox/pkg/client"
	"github.com/signalbox/signalbox/pkg/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/forge/local"
	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Lease is how long a stage's work is left to one who is silent: longer than any
// test, so that it is the test that ends it.
const Lease = 2 * time.Hour

// patience is what a part of a play has, on a machine that has other work.
const patience = 3 * time.Minute

// Stage is a log, an orchestrator and a forge, on which one service at a time works.
type Stage struct {
	testing.TB
	Ctx     context.Context
	Server  *natstest.Server
	Forge   *forgetest.Forge
	Client  *client.Client
	JS      jetstream.JetStream
	Service Service

	nc   *nats.Conn
	desk *workspace.Cache // of who works on the code
	work *Code
	born int
	dead map[string]bool // agents that ended without a word
}

// Service is what is played.
type Service struct {
	Name   string
	Queues []string // the consumers that hand out its work
	// Setup makes an incarnation that reaches the forge at the URL and has the
	// directory for itself.
	Setup func(forge, dir string) func(context.Context, *service.Host) error
	// Orchestrate runs an orchestrator on the NATS server at the URL.
	Orchestrate func(t testing.TB, url string)
	// Forge may change the forge.
	Forge func(*local.Config)
}

// NewStage sets a stage up.
func NewStage(t testing.TB, of Service) *Stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Lease/2)
	t.Cleanup(cancel)
	s := &Stage{TB: t, Ctx: ctx, Server: natstest.Start(t, natstest.Options{}), Service: of, dead: map[string]bool{}}
	of.Orchestrate(t, s.Server.URL)
	s.nc = s.Server.Connect(t)
	s.Client, s.JS = client.New(s.nc, "operator:ann"), s.Server.JetStream(t)
	s.Forge = forgetest.Start(t, forgetest.Config{
		File: "sum.txt", Text: "5\n", Forge: of.Forge,
		Users: []local.User{forgetest.Bot(), forgetest.User("ann", "admin"), forgetest.User("bob", "write")},
	})
	objects, err := role.Bucket(ctx, s.JS)
	if err == nil {
		s.desk, err = workspace.New(workspace.Config{Dir: t.TempDir(), Objects: objects})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// incarnation is a service that runs.
type incarnation struct {
	*Line
	name   string
	ended  chan error
	cancel context.CancelFunc
	close  func()
}

// enter has another incarnation of the service work, on a line on which something goes wrong.
func (s *Stage) enter(at Point) *incarnation {
	s.Helper()
	s.born++
	name := fmt.Sprintf("%s-%d", s.Service.Name, s.born)
	l := newLine(s.Ctx, at)
	front := l.front(s.Forge.Handler())
	wires, err := l.listen(s.Server.URL)
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithCancel(l) // who is gone makes no more effort
	dir, err := os.MkdirTemp(s.TempDir(), name)
	if err != nil {
		s.Fatal(err)
	}
	setup := s.Service.Setup(l.Forge, dir)
	i := &incarnation{Line: l, name: name, ended: make(chan error, 1), cancel: cancel, close: func() { _ = wires.Close(); front.CloseClientConnections(); front.Close() }}
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

// leave has the incarnation end as a service does that is told to, and waits.
func (s *Stage) leave(i *incarnation) {
	s.Helper()
	dead := i.Err() != nil
	if dead {
		s.dead[i.name] = true
	}
	i.cancel()
	err := <-i.ended
	i.die()
	i.close()
	i.wires.Wait()
	if err != nil && !dead {
		s.Errorf("%s ended with %v", s.Service.Name, err)
	}
}

// pass is the time that it takes to see that whoever works is gone.
func (s *Stage) pass(id string) {
	s.Helper()
	for _, queue := range s.Service.Queues {
		if err := s.reclaim(queue); err != nil {
			s.Fatal(err)
		}
	}
	in, err := s.Client.Get(s.Ctx, id)
	if err != nil && !errors.As(err, new(*instance.Refusal)) {
		s.Fatal(err)
	}
	s.lapse(in)
}

// bury ends the lease of one that is gone. It may be given work after its end: a
// claim that waited outlives it for a moment.
func (s *Stage) bury(in *pb.Instance) {
	s.Helper()
	if s.dead[in.GetClaim().GetAgent()] {
		s.lapse(in)
	}
}

// lapse ends the lease of the claim, if there is one.
func (s *Stage) lapse(in *pb.Instance) {
	s.Helper()
	claim := in.GetClaim()
	if claim == nil {
		return
	}
	_, err := s.Client.DoAs(s.Ctx, claim.GetRole(), subject.Release, &pb.Command{Instance: in.GetInstance(), Actor: claim.GetAgent(), Action: &pb.Command_Release{
		Release: &pb.Release{Token: claim.GetToken(), Reason: "its lease has run out"}}})
	if err != nil {
		s.Fatal(errors.Join(err, s.Ctx.Err()))
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
