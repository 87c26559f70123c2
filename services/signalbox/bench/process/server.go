package process

import (
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/embedded"
)

// Server is nats-server in a part.
type Server struct{ host *host }

// ServerArgs says where it keeps its store.
type ServerArgs struct {
	Dir  string
	Sync time.Duration // how often it is flushed; 0 before each acknowledgement
}

// inside is the server of the part itself, if it has one.
type inside struct{ server *embedded.Server }

// Start starts it and answers with its URL.
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

// link is how to reach the server at url; without one it is the part's own.
func (h *host) link(url string) (service.NATS, []nats.Option) {
	if url == "" {
		return service.NATS{}, []nats.Option{nats.InProcessServer(h.server)}
	}
	return service.NATS{URL: url}, nil
}
