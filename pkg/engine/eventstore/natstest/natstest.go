// Package natstest runs real nats-servers inside a test.
package natstest

import (
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/testkit/porttest"
)

// Options has the settings of the server. The zero value is a server with the
// default sync interval on an empty store of its own.
type Options struct {
	Dir        string // of the store; empty: a temporary one
	SyncAlways bool   // flush each message before it is acknowledged
	// Change may set any other option before the server starts.
	Change func(*server.Options)
}

// Server is a nats-server that ends with the test.
type Server struct {
	URL string // the same after a restart
	Dir string // of the store

	options *server.Options
	server  *server.Server
}

// Start runs a server on a port of the loopback interface that stays its own when it restarts.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	s := &Server{Dir: o.Dir, options: &server.Options{
		ServerName: "natstest", Host: "127.0.0.1", Port: porttest.Reserve(t),
		JetStream: true, StoreDir: o.Dir, SyncAlways: o.SyncAlways,
		NoSigs: true, NoLog: true,
	}}
	if o.Change != nil {
		o.Change(s.options)
	}
	s.URL = "nats://127.0.0.1:" + strconv.Itoa(s.options.Port)
	s.Resume(t)
	t.Cleanup(s.Stop)
	return s
}

// Stop ends the server and waits until it has let go of its store. Stopping a
// stopped server does nothing.
func (s *Server) Stop() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
}

// Resume starts a stopped server again, on the same store and port.
func (s *Server) Resume(t testing.TB) {
	t.Helper()
	var err error
	if s.server, err = server.NewServer(s.options.Clone()); err != nil {
		t.Fatalf("make a nats-server: %v", err)
	}
	s.server.Start()
	if !s.server.ReadyForConnections(time.Minute) {
		t.Fatal("the nats-server did not start within a minute")
	}
}

// Restart is Stop and Resume.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Stop()
	s.Resume(t)
}

// Connect returns a connection that reconnects for ever, quickly and quietly.
// It is closed with the test.
func (s *Server) Connect(t testing.TB, options ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(s.URL, append([]nats.Option{
		nats.MaxReconnects(-1), nats.ReconnectWait(20 * time.Millisecond),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
	}, options...)...)
	if err != nil {
		t.Fatalf("connect to %s: %v", s.URL, err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// JetStream returns JetStream over a connection of its own.
func (s *Server) JetStream(t testing.TB) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(s.Connect(t))
	if err != nil {
		t.Fatalf("use JetStream: %v", err)
	}
	return js
}
