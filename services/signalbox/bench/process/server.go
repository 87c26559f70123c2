package process

import (
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/embedded"
)

// Server runs a nats-server.
type Server struct{ host *host }

// ServerArgs are the arguments of Server.Start.
type ServerArgs struct {
	Dir  string
	Sync time.Duration // interval between flushes; 0: before each acknowledgement
}

// Start starts the server and returns its URL.
func (s *Server) Start(a ServerArgs, url *string) error {
	server, err := embedded.Start(embedded.Config{Dir: a.Dir, Sync: a.Sync, Listen: "127.0.0.1:0"})
	if err != nil {
		return err
	}
	s.host.atEnd(func() error { server.Shutdown(); return nil })
	s.host.server = server
	*url = server.ClientURL()
	return nil
}

// link returns the options to connect to the server at url. An empty url is the server
// in this process.
func (h *host) link(url string) (service.NATS, []nats.Option) {
	if url == "" {
		return service.NATS{}, []nats.Option{nats.InProcessServer(h.server)}
	}
	return service.NATS{URL: url}, nil
}
