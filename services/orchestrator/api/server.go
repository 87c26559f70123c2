// Package api answers sb.api: commands and queries as a NATS micro service, in
// protobuf or JSON by Content-Type. It translates; the engine decides.
package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/eventstore"
	"github.com/signalbox/signalbox/pkg/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Version is the semantic version of sb.api, told to those who discover it.
const Version = "1.0.0"

// Config is what a Server answers from.
type Config struct {
	Conn        *nats.Conn
	Engine      *engine.Engine
	Store       eventstore.Store
	Definitions Definitions
	Version     string // semantic, see Version
	Log         *slog.Logger
	Answered    func(command, code string, took time.Duration) // told of each answer; code is empty when taken
}

// Definitions is the catalogue behind sb.api.definition.
type Definitions interface {
	Names() []string
	// Source returns the canonical source and hash of a name or a content hash.
	Source(ctx context.Context, nameOrHash string) (source []byte, hash string, err error)
}

// Server answers requests, as many at a time as there are, until Close.
type Server struct {
	Config
	service micro.Service
	clock   deadlines
	crew    crew
	tasks   sync.Map // *pb.Task by definition, state and role

	mu       sync.Mutex
	closed   bool
	requests sync.WaitGroup // under way; none is added once closed
}

const (
	// concurrent bounds the requests under way: more wait in the connection.
	concurrent = 512
	// patience is how long one request may look for an answer: less than askers
	// wait, so that they hear why there is none.
	patience = 4 * time.Second
	// maxRequest leaves room for headers within NATS's default of 1 MiB.
	maxRequest = 768 << 10
)

// Serve starts answering; when it returns, requests reach the server.
func Serve(c Config) (*Server, error) {
	s := &Server{Config: c, clock: newDeadlines(), crew: newCrew(concurrent)}
	svc, err := micro.AddService(c.Conn, micro.Config{
		Name: "signalbox-orchestrator", Version: c.Version, Description: "commands and queries of Signalbox",
	})
	if err != nil {
		s.clock.end()
		return nil, fmt.Errorf("start the micro service: %w", err)
	}
	s.service = svc
	for _, e := range s.endpoints() {
		handler := s.concurrently(e)
		if e.name == "agent-"+subject.Claim {
			handler = s.claims(e)
		}
		if err := svc.AddEndpoint(e.name, handler, micro.WithEndpointSubject(e.subject)); err != nil {
			return nil, errors.Join(fmt.Errorf("endpoint %s: %w", e.name, err), s.Close())
		}
	}
	if err := svc.AddEndpoint("agent-"+subject.Batch, micro.HandlerFunc(s.batch), micro.WithEndpointSubject(must(subject.AnyAgent(subject.Batch)))); err != nil {
		return nil, errors.Join(fmt.Errorf("endpoint %s: %w", subject.Batch, err), s.Close())
	}
	if err := c.Conn.FlushTimeout(patience); err != nil {
		return nil, errors.Join(fmt.Errorf("start the micro service: %w", err), s.Close())
	}
	return s, nil
}

// Close stops taking requests and waits for those under way. One that was on its
// way meanwhile is told to ask again: another replica will answer.
func (s *Server) Close() error {
	err := s.service.Stop()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.Engine.Dismiss()
	s.requests.Wait()
	s.crew.dismiss()
	s.clock.end()
	return err
}

// begin books a request, unless the server is closed.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.requests.Add(1)
	}
	return !s.closed
}

// endpoint is one subject and what answers it.
type endpoint struct {
	name    string
	subject string
	// answer returns the reply. With a refusal it may be nil, and refused makes it.
	answer  func(ctx context.Context, r request) (proto.Message, *pb.Refusal)
	refused func(*pb.Refusal) proto.Message
}

func (s *Server) endpoints() []endpoint {
	var all []endpoint
	for _, name := range []string{subject.Open, subject.Signal, subject.Answer, subject.Note, subject.Override,
		subject.Pause, subject.Resume, subject.Cancel, subject.Retry, subject.Resolve, subject.Migrate,
		subject.Expire, subject.Wake, subject.End} {
		all = append(all, endpoint{name, must(subject.API(name)), s.command(name), refused})
	}
	for _, name := range ofAgents() {
		all = append(all, endpoint{"agent-" + name, must(subject.AnyAgent(name)), s.command(name), refused})
	}
	return append(all,
		endpoint{subject.Get, must(subject.API(subject.Get)), s.get, func(no *pb.Refusal) proto.Message { return &pb.GetReply{Refusal: no} }},
		endpoint{subject.List, must(subject.API(subject.List)), s.list, func(no *pb.Refusal) proto.Message { return &pb.ListReply{Refusal: no} }},
		endpoint{subject.History, must(subject.API(subject.History)), s.history, func(no *pb.Refusal) proto.Message { return &pb.HistoryReply{Refusal: no} }},
		endpoint{subject.Definition, must(subject.API(subject.Definition)), s.definition, func(no *pb.Refusal) proto.Message { return &pb.DefinitionReply{Refusal: no} }},
	)
}

// ofAgents are the commands of agents.
func ofAgents() []string {
	return []string{subject.Claim, subject.Heartbeat, subject.Report, subject.Release, subject.Fail,
		subject.Ask, subject.Inquire, subject.Escalate, subject.Note, subject.Spend, subject.Override}
}

func refused(no *pb.Refusal) proto.Message { return &pb.CommandReply{Refusal: no} }

// must is for subjects built of constants: they are valid or the build is broken.
func must(s string, err error) string {
	if err != nil {
		panic(err)
	}
	return s
}

// concurrently answers requests beside each other: the framework would serve one
// endpoint's one after the other.
func (s *Server) concurrently(e endpoint) micro.Handler {
	return micro.HandlerFunc(func(m micro.Request) {
		s.run(func(ctx context.Context, open bool) (string, *pb.Refusal) {
			if !open {
				e.answer = func(context.Context, request) (proto.Message, *pb.Refusal) { return nil, stopping() }
			}
			return e.name, s.respond(ctx, m, e)
		})
	})
}

// run has one request answered, beside others, and counts it; f returns what it
// was and the refusal, if it was one. Once the server is closed, it is not open
// and f is called at once.
func (s *Server) run(f func(ctx context.Context, open bool) (string, *pb.Refusal)) {
	if !s.begin() {
		f(context.Background(), false)
		return
	}
	s.crew.do(func() {
		defer s.requests.Done()
		start := time.Now()
		name, refusal := f(s.clock.after(start), true)
		if s.Answered != nil {
			s.Answered(name, refusal.GetCode(), time.Since(start))
		}
	})
}

func stopping() *pb.Refusal {
	return &pb.Refusal{Code: Unavailable, Message: "this orchestrator is stopping"}
}
