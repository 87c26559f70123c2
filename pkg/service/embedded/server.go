// Package embedded runs nats-server with JetStream inside this process.
package embedded

import (
	"cmp"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/service/access"
)

// Config configures a server.
type Config struct {
	Dir string // of the store; made if it is not there
	// Sync is the interval of flushes to disk. Zero flushes before each write is
	// acknowledged, so acknowledged writes survive a power loss. Otherwise a power
	// loss, not a crash, loses the writes of up to Sync.
	Sync time.Duration
	// Listen is HOST:PORT for clients in other processes, port 0 for a free
	// one. Empty: only this process connects.
	Listen string
	// User and Password are the credentials of processes of the person that owns the
	// store. Without Keys this process uses them too. Both empty: no login.
	User, Password string
	// Keys are those of the parties. Each has its account; the orchestrator's, which owns
	// the log, is the server's global account, so that a store is one with and without
	// accounts. Empty: there are no accounts.
	Keys access.Keys
	Name string       // of the server, default signalbox
	Log  *slog.Logger // warnings and errors at their level, the rest at debug
	// Refused gets the kind of each error that a client causes, a refused login among them, if Log is set;
	// one of few texts. nil: they are not counted.
	Refused func(why string)
}

// Server is a running server. It is a nats.InProcessConnProvider.
type Server struct {
	server         *server.Server
	lock           *os.File
	user, password string
	keys           access.Keys
	dir            string
	stop           *stop
}

// readyTimeout is long enough to read a large store.
const readyTimeout = time.Minute

// Start returns a server that accepts connections, or ErrLocked if another
// process runs one on the same directory.
func Start(c Config) (*Server, error) {
	lock, err := lockDir(c.Dir)
	if err != nil {
		return nil, err
	}
	stop := newStop()
	s, err := start(c, stop)
	if err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("NATS server in %s: %w", c.Dir, err)
	}
	return &Server{s, lock, c.User, c.Password, c.Keys, c.Dir, stop}, nil
}

func start(c Config, stop *stop) (*server.Server, error) {
	options := &server.Options{
		ServerName:   cmp.Or(c.Name, "signalbox"),
		JetStream:    true,
		StoreDir:     c.Dir,
		SyncAlways:   c.Sync == 0,
		SyncInterval: c.Sync,
		DontListen:   c.Listen == "",
		NoSigs:       true, // the process's signals are its main's
		NoLog:        c.Log == nil,
	}
	if !c.Keys.Empty() {
		if err := setAccounts(options, c); err != nil {
			return nil, err
		}
	} else if c.User != "" {
		options.CustomClientAuthentication = credentials{c.User, c.Password}
	}
	if c.Listen != "" {
		host, port, err := net.SplitHostPort(c.Listen)
		if err != nil {
			return nil, fmt.Errorf("listen %s: %w", c.Listen, err)
		}
		// The server would try for a minute and report that in its log only.
		probe, err := net.Listen("tcp", c.Listen)
		if err != nil {
			return nil, fmt.Errorf("%w; --listen names another address", err)
		}
		_ = probe.Close()
		options.Host = host
		if options.Port, err = strconv.Atoi(port); err != nil {
			return nil, fmt.Errorf("listen %s: the port is not a number", c.Listen)
		}
		if options.Port == 0 {
			options.Port = server.RANDOM_PORT
		}
	}
	s, err := server.NewServer(options)
	if err != nil {
		return nil, err
	}
	if c.Log != nil {
		s.SetLoggerV2(logger{c.Log, stop, c.refused(), new(pacing.Seldom[string])}, false, false, false)
	}
	s.Start()
	if !s.ReadyForConnections(readyTimeout) || !s.JetStreamEnabled() {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, errors.New("did not start; its log has the reason")
	}
	return s, nil
}

func (c Config) refused() func(why string) {
	if c.Refused == nil {
		return func(string) {}
	}
	return c.Refused
}

// credentials implements server.Authentication. The server's own check warns about a
// password that is not hashed; a random one need not be.
type credentials struct{ user, password string }

// Check implements server.Authentication.
func (c credentials) Check(client server.ClientAuthentication) bool {
	given := client.GetOpts()
	return given.Username == c.user && subtle.ConstantTimeCompare([]byte(given.Password), []byte(c.password)) == 1
}

// InProcessConn returns a connection that leaves out the network.
func (s *Server) InProcessConn() (net.Conn, error) { return s.server.InProcessConn() }

// Connect connects within the process.
func (s *Server) Connect(options ...nats.Option) (*nats.Conn, error) {
	return nats.Connect("", append(s.Options(), options...)...)
}

// Options returns the options of a connection within the process. With accounts it is
// the orchestrator's.
func (s *Server) Options() []nats.Option {
	if !s.keys.Empty() {
		return s.As(access.Party{Kind: access.Orchestrator})
	}
	return []nats.Option{nats.InProcessServer(s), nats.UserInfo(s.user, s.password)}
}

// As returns the options of a connection of the party within the process.
func (s *Server) As(p access.Party) []nats.Option {
	return []nats.Option{nats.InProcessServer(s), s.keys.Login(p)}
}

// ClientURL returns the URL for other processes, or "" if they cannot connect.
func (s *Server) ClientURL() string {
	if s.server.Addr() == nil {
		return ""
	}
	return s.server.ClientURL()
}

// Shutdown closes all connections, flushes the store and unlocks the directory. It
// returns when that is done.
func (s *Server) Shutdown() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
	_ = s.lock.Close()
}
