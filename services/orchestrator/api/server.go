// Package api serves sb.api: commands and queries as a NATS micro service, in protobuf or JSON by
// Content-Type. It translates messages; the engine decides.
package api

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service/access"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Version is the semantic version of sb.api. NATS service discovery shows it.
const Version = "1.0.0"

// Config is what a Server needs.
type Config struct {
	Conn        *nats.Conn
	Entry       access.Entry // of Conn
	Engine      *engine.Engine
	Store       eventstore.Store
	Definitions Definitions
	Objects     Objects            // nil: none are served
	Key         ed25519.PrivateKey // signs attestations; nil: none are made
	GitHubRight access.Kind        // the greatest right of people who sign in to a console by GitHub; empty: none
	Version     string             // semantic, see Version
	Log         *slog.Logger
	// Answered, if not nil, is called for each reply, from any goroutine. code is the refusal's, or empty.
	Answered func(command, code string, took time.Duration)
	// Health, if not nil, returns the state of the parts of the system that the server does not know itself. It is called from any goroutine.
	Health func(context.Context) []*pb.HealthCheck
	// Waiting, if not nil, returns how many agents of each role wait at its queue. It is called from any goroutine.
	Waiting func() map[string]int
	// Forbidden, if not nil, is called for each request that its account may not make, from any goroutine.
	Forbidden func(kind, command string)
}

// Definitions is the catalogue behind sb.api.definition.
type Definitions interface {
	Names() []string
	// Source returns the canonical source and hash of a name or a content hash.
	Source(ctx context.Context, nameOrHash string) (source []byte, hash string, err error)
}

// Server serves requests concurrently until Close.
type Server struct {
	Config
	service      micro.Service
	workers      *workerPool
	transfers    *transfers
	objects      *workerPool // of requests for objects
	watches      watches
	watchers     *workerPool     // of watches
	closing      context.Context // ends when Close is called
	endWatches   context.CancelFunc
	batchReplies batchReplies
	tasks        sync.Map // stateTask by definition, state and role
	books        *books
	allowances   *allowances
	tally        readTally

	mu       sync.Mutex
	closed   bool
	requests sync.WaitGroup // in progress; none is added once closed
}

const (
	// maxConcurrent bounds the requests in progress. More of them wait in the connection.
	maxConcurrent = 512
	// timeout bounds the handling of a request. It is shorter than a client's, so that the client gets a
	// refusal that says why.
	timeout = 4 * time.Second
	// maxRequest leaves room for headers within NATS's default limit of 1 MiB.
	maxRequest = 768 << 10
)

// Serve starts a server. When it returns, requests reach the server.
func Serve(c Config) (*Server, error) {
	books, err := newBooks()
	if err != nil {
		return nil, err
	}
	room := uint64(max(c.Conn.MaxPayload()-margin, 4<<10)) / 4 * 3 // JSON makes four bytes of three
	s := &Server{
		Config: c, workers: newWorkerPool(maxConcurrent),
		objects: newWorkerPool(objectWorkers), transfers: newTransfers(c.Objects, min(maxPart, room)),
		watchers: newWorkerPool(maxWatches), watches: watches{of: map[access.Party]int{}}, books: books,
		allowances: newAllowances(), tally: newReadTally(),
	}
	s.closing, s.endWatches = context.WithCancel(context.Background())
	s.batchReplies.send = func(to micro.Request, data []byte) { s.send(to, data, nil) }
	svc, err := micro.AddService(c.Conn, micro.Config{
		Name: "signalbox-orchestrator", Version: c.Version, Description: "commands and queries of Signalbox",
	})
	if err != nil {
		return nil, fmt.Errorf("start the micro service: %w", err)
	}
	s.service = svc
	for _, e := range s.endpoints() {
		at, err := c.Entry.Subject(e.subject)
		if err == nil {
			err = svc.AddEndpoint(e.name, e.handler, micro.WithEndpointSubject(at))
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("endpoint %s: %w", e.name, err), s.Close())
		}
	}
	if err := c.Conn.FlushTimeout(timeout); err != nil {
		return nil, errors.Join(fmt.Errorf("start the micro service: %w", err), s.Close())
	}
	return s, nil
}

// Close stops taking requests and waits for those in progress. A request that arrives meanwhile is
// refused as unavailable: the client sends it again, to another orchestrator. Close may be called again.
func (s *Server) Close() error {
	err := s.service.Stop()
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	s.Engine.Dismiss()
	s.endWatches()
	s.requests.Wait()
	s.batchReplies.flush()
	if first {
		s.workers.close()
		s.objects.close()
		s.watchers.close()
		s.transfers.close(context.Background())
	}
	return err
}

// begin adds a request to those in progress, or returns false if the server is closed.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.requests.Add(1)
	}
	return !s.closed
}

// endpoint is a subject and its handler. The micro framework calls the handlers of one endpoint in
// sequence, so they only start the handling of a request.
type endpoint struct {
	name    string
	subject string
	handler micro.HandlerFunc
}

func (s *Server) endpoints() []endpoint {
	all := []endpoint{
		s.query(subject.Get, s.get, func(no *pb.Refusal) proto.Message { return &pb.GetReply{Refusal: no} }),
		s.query(subject.List, s.list, func(no *pb.Refusal) proto.Message { return &pb.ListReply{Refusal: no} }),
		s.query(subject.History, s.history, func(no *pb.Refusal) proto.Message { return &pb.HistoryReply{Refusal: no} }),
		s.query(subject.Definition, s.definition, func(no *pb.Refusal) proto.Message { return &pb.DefinitionReply{Refusal: no} }),
		s.query(subject.Allowance, s.allowance, func(no *pb.Refusal) proto.Message { return &pb.AllowanceReply{Refusal: no} }),
		s.query(subject.Counts, s.counts, func(no *pb.Refusal) proto.Message { return &pb.CountsReply{Refusal: no} }),
		s.query(subject.Agents, s.agents, func(no *pb.Refusal) proto.Message { return &pb.AgentsReply{Refusal: no} }),
		s.query(subject.Costs, s.costs, func(no *pb.Refusal) proto.Message { return &pb.CostsReply{Refusal: no} }),
		s.query(subject.Health, s.health, func(no *pb.Refusal) proto.Message { return &pb.HealthReply{Refusal: no} }),
		s.query(subject.Explain, s.explain, func(no *pb.Refusal) proto.Message { return &pb.ExplainReply{Refusal: no} }),
		s.attestEndpoint(subject.Attest, must(subject.API(subject.Attest))),
		s.attestEndpoint("agent-"+subject.Attest, must(subject.AnyAgent(subject.Attest))),
		s.watchEndpoint(),
		{"agent-" + subject.Batch, must(subject.AnyAgent(subject.Batch)), s.batch},
	}
	if s.Objects != nil {
		all = append(all, s.objectEndpoints()...)
	}
	for _, name := range subject.Commands() {
		all = append(all, endpoint{name, must(subject.API(name)), s.alone(name)})
	}
	for _, name := range subject.AgentCommands() {
		all = append(all, endpoint{"agent-" + name, must(subject.AnyAgent(name)), s.alone(name)})
	}
	return all
}

// must is for subjects built from constants, which are always valid.
func must(s string, err error) string {
	if err != nil {
		panic(err)
	}
	return s
}
