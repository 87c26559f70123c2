package e2e

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
)

// natsServer is a nats-server with a fixed port and store. It can be started again.
type natsServer struct {
	group  *processGroup
	dir    string
	port   string
	access access.Directory // whose accounts it has; empty: none
}

const natsName = "nats-server"

var listening = regexp.MustCompile(`Listening for client connections on 127\.0\.0\.1:(\d+)`)

// startNATS starts a nats-server with its store in dir, on a free port.
func startNATS(t *testing.T, c *processGroup, dir string) (*natsServer, *process) {
	t.Helper()
	return startNATSWith(t, c, dir, "")
}

// startNATSWith starts a nats-server that knows the parties of a directory only.
func startNATSWith(t *testing.T, c *processGroup, dir string, parties access.Directory) (*natsServer, *process) {
	t.Helper()
	s := &natsServer{c, dir, "-1", parties}
	p := s.start(t)
	s.port = listening.FindStringSubmatch(p.expect(t, "Listening for client connections"))[1]
	return s, p
}

// start starts the server and returns when it accepts connections.
func (s *natsServer) start(t *testing.T) *process {
	t.Helper()
	conf := filepath.Join(t.TempDir(), "nats.conf")
	text := fmt.Sprintf("host: 127.0.0.1\nport: %s\njetstream {store_dir: %q, sync_interval: always, max_file_store: 4GB}\n", s.port, s.dir)
	if s.access != "" {
		accounts, err := filepath.Rel(filepath.Dir(conf), filepath.Join(string(s.access), access.ConfigFile)) // all includes are relative
		if err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf("include %q\n", accounts)
	}
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := s.group.start(t, natsName, binary(t, natsName), "-c", conf)
	p.expect(t, "Server is ready")
	return p
}

func (s *natsServer) url() string { return "nats://127.0.0.1:" + s.port }

// connect returns the test's own connection, which reconnects as the services' do.
func (s *natsServer) connect(t *testing.T) (*nats.Conn, jetstream.JetStream) {
	t.Helper()
	flags := service.NATS{URL: s.url()}
	if s.access != "" {
		flags.NKey = s.access.Seed(access.Party{Kind: access.Orchestrator})
	}
	nc, err := service.Connect(t.Context(), flags, "e2e", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return nc, js
}
