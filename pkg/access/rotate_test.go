package access_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/access"
)

// reloadable is a nats-server that reads its accounts from a directory of keys.
type reloadable struct {
	*testing.T
	server *server.Server
	keys   access.Directory
}

func newReloadable(t *testing.T, parties ...access.Party) *reloadable {
	t.Helper()
	dir := t.TempDir()
	e := &reloadable{T: t, keys: access.Directory(filepath.Join(dir, "access"))}
	_, err := e.keys.Init(parties...)
	e.must(err)
	file := filepath.Join(dir, "nats.conf")
	e.must(os.WriteFile(file, fmt.Appendf(nil, "listen: \"127.0.0.1:-1\"\njetstream {store_dir: %q}\ninclude access/%s\n",
		filepath.Join(dir, "store"), access.ConfigFile), 0o600))
	options, err := server.ProcessConfigFile(file)
	e.must(err)
	options.NoLog, options.NoSigs = true, true
	e.server, err = server.NewServer(options)
	e.must(err)
	e.server.Start()
	t.Cleanup(func() { e.server.Shutdown(); e.server.WaitForShutdown() })
	if !e.server.ReadyForConnections(time.Minute) {
		t.Fatal("the server did not start")
	}
	return e
}

func (e *reloadable) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// connect connects with the seed that the party's file has now. The connection is never
// made anew.
func (e *reloadable) connect(p access.Party) *nats.Conn {
	e.Helper()
	option, err := access.LoginFile(e.keys.Seed(p))
	e.must(err)
	nc, err := nats.Connect(e.server.ClientURL(), option, nats.NoReconnect())
	e.must(err)
	e.Cleanup(nc.Close)
	return nc
}

// ask makes a request that the party may make.
func (e *reloadable) ask(nc *nats.Conn, when string) {
	e.Helper()
	if _, err := nc.Request("sb.api.get", nil, 10*time.Second); err != nil {
		e.Errorf("%s: %v", when, err)
	}
}

func TestAKeyIsReplacedWithoutAnInterruption(t *testing.T) {
	e := newReloadable(t, orchestrator, developer)
	api := e.connect(orchestrator)
	_, err := api.Subscribe("sb.api.*", func(m *nats.Msg) { _ = m.Respond([]byte("{}")) })
	e.must(err)
	e.must(api.Flush())

	old := e.connect(developer)
	ended := old.StatusChanged(nats.CLOSED)
	e.ask(old, "with the first key")
	was, err := access.LoginFile(e.keys.Seed(developer))
	e.must(err)

	e.must(e.keys.Rotate(developer))
	e.ask(old, "before the server knows of the new key")
	e.must(e.server.Reload())
	e.ask(old, "on the connection of before, when both keys are valid")
	renewed := e.connect(developer)
	e.ask(renewed, "with the new key")
	again, err := nats.Connect(e.server.ClientURL(), was, nats.NoReconnect())
	e.must(err)
	e.ask(again, "on a new connection with the first key, when both are valid")
	again.Close()

	dropped, err := e.keys.Drop(developer)
	e.must(err)
	if dropped != 1 {
		t.Errorf("%d keys were dropped, want one", dropped)
	}
	e.must(e.server.Reload())
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the connection of the first key goes on after it was dropped")
	}
	e.ask(renewed, "with the new key, after the first was dropped")
	if !api.IsConnected() {
		t.Error("the orchestrator lost its connection")
	}
	if _, err := nats.Connect(e.server.ClientURL(), was); !errors.Is(err, nats.ErrAuthorization) {
		t.Errorf("the first key, after it was dropped: %v", err)
	}
}

func TestThePartyThatIsRevokedIsCutOffAndNobodyElse(t *testing.T) {
	e := newReloadable(t, orchestrator, developer, tester)
	api := e.connect(orchestrator)
	_, err := api.Subscribe("sb.api.*", func(m *nats.Msg) { _ = m.Respond([]byte("{}")) })
	e.must(err)
	e.must(api.Flush())
	gone, stays := e.connect(developer), e.connect(tester)
	ended := gone.StatusChanged(nats.CLOSED)
	e.ask(gone, "before it is revoked")
	e.must(e.keys.Revoke(developer))
	e.must(e.server.Reload())
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the connection goes on after its party was revoked")
	}
	e.ask(stays, "another party")
}
