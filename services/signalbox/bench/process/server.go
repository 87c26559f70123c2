package process

import (
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/embedded"
)

// Server runs a nats-server.
type Server struct{ host *host }

// ServerArgs are the arguments of Server.Start.
type ServerArgs struct {
	Dir  string
	Sync time.Duration // interval between flushes; 0: before each acknowledgement
	// Access is the directory of the keys of the parties, which have an account each;
	// empty: there are no accounts.
	Access access.Directory
}

// Start starts the server and returns its URL.
func (s *Server) Start(a ServerArgs, url *string) error {
	config := embedded.Config{Dir: a.Dir, Sync: a.Sync, Listen: "127.0.0.1:0"}
	if s.host.access = a.Access; a.Access != "" {
		var err error
		if config.Keys, err = a.Access.Keys(); err != nil {
			return err
		}
	}
	server, err := embedded.Start(config)
	if err != nil {
		return err
	}
	s.host.atEnd(func() error { server.Shutdown(); return nil })
	s.host.server = server
	*url = server.ClientURL()
	return nil
}

// link returns the options to connect to the server at url as the orchestrator. An empty
// url is the server in this process.
func (h *host) link(url string) (service.NATS, []nats.Option) {
	if url == "" {
		return service.NATS{}, h.server.Options()
	}
	return h.linkAs(url, access.Party{Kind: access.Orchestrator}), nil
}

// linkAs returns the options to connect to the server at url as a party, if the server
// has accounts.
func (h *host) linkAs(url string, p access.Party) service.NATS {
	link := service.NATS{URL: url}
	if h.access != "" {
		link.NKey = h.access.Seed(p)
	}
	return link
}
