package access_test

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/access/accesstest"
)

// reloadable is a nats-server that reads its accounts from a directory of keys.
type reloadable struct {
	*testing.T
	server *accesstest.Reloadable
}

func newReloadable(t *testing.T, parties ...access.Party) *reloadable {
	t.Helper()
	return &reloadable{t, accesstest.StartReloadable(t, nil, parties...)}
}

func (e *reloadable) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
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
	api := e.server.As(t, orchestrator)
	_, err := api.Subscribe("sb.in.*.api.*", func(m *nats.Msg) { _ = m.Respond([]byte("{}")) })
	e.must(err)
	e.must(api.Flush())

	old := e.server.As(t, developer)
	ended := old.StatusChanged(nats.CLOSED)
	e.ask(old, "with the first key")
	was, err := access.LoginFile(e.server.Keys.Seed(developer))
	e.must(err)

	e.must(e.server.Keys.Rotate(developer))
	e.ask(old, "before the server knows of the new key")
	e.must(e.server.Reload())
	e.ask(old, "on the connection of before, when both keys are valid")
	renewed := e.server.As(t, developer)
	e.ask(renewed, "with the new key")
	again, err := nats.Connect(e.server.ClientURL(), was, nats.NoReconnect())
	e.must(err)
	e.ask(again, "on a new connection with the first key, when both are valid")
	again.Close()

	dropped, err := e.server.Keys.Drop(developer)
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
	api := e.server.As(t, orchestrator)
	_, err := api.Subscribe("sb.in.*.api.*", func(m *nats.Msg) { _ = m.Respond([]byte("{}")) })
	e.must(err)
	e.must(api.Flush())
	gone, stays := e.server.As(t, developer), e.server.As(t, tester)
	ended := gone.StatusChanged(nats.CLOSED)
	e.ask(gone, "before it is revoked")
	e.must(e.server.Keys.Revoke(developer))
	e.must(e.server.Reload())
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the connection goes on after its party was revoked")
	}
	e.ask(stays, "another party")
}
