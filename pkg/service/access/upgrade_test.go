package access_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/pkg/service/access/accesstest"
)

func TestAnUpgradeKeepsTheKeysAndACopyOfTheAccounts(t *testing.T) {
	d := access.Directory(filepath.Join(t.TempDir(), "access"))
	read := func(name string) string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(string(d), name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if _, err := d.Upgrade(); !errors.Is(err, access.ErrNone) {
		t.Errorf("without credentials: %v", err)
	}
	if _, err := d.Init(accesstest.OldParties()...); err != nil {
		t.Fatal(err)
	}
	now, before := read(access.ConfigFile), func() []access.Credential { c, _ := d.Credentials(); return c }()
	if upgraded, err := d.Upgrade(); err != nil || upgraded {
		t.Errorf("accounts of this version: %v, %v", upgraded, err)
	}
	accesstest.WriteOld(t, d)
	old, seed := read(access.ConfigFile), read("view-vera.nk")
	for what, err := range map[string]error{
		"add":    d.Add(access.Party{Kind: access.View, Name: "new"}),
		"rotate": d.Rotate(viewer),
		"revoke": d.Revoke(viewer),
	} {
		if !errors.Is(err, access.ErrOld) || read(access.ConfigFile) != old {
			t.Errorf("%s before the upgrade: %v", what, err)
		}
	}
	if upgraded, err := d.Upgrade(); err != nil || !upgraded {
		t.Fatalf("%v, %v", upgraded, err)
	}
	if got := read(access.ConfigFile); got != now {
		t.Errorf("the accounts are\n%s, want\n%s", got, now)
	}
	if read(access.BeforeFile) != old || read("view-vera.nk") != seed {
		t.Error("the copy, or a seed, is another")
	}
	after, err := d.Credentials()
	if err != nil || !reflect.DeepEqual(after, before) {
		t.Errorf("the parties are %v, %v, want %v", after, err, before)
	}
}

func TestWhetherTheServerMapsRequestsIsFoundOutByOne(t *testing.T) {
	s := accesstest.StartReloadable(t, func(d access.Directory) { accesstest.WriteOld(t, d) }, accesstest.OldParties()...)
	system := s.As(t, orchestrator)
	if _, err := access.FindEntry(t.Context(), system); !errors.Is(err, access.ErrOldAccounts) {
		t.Errorf("accounts of an older version: %v", err)
	}
	if _, err := s.Keys.Upgrade(); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	entry, err := access.FindEntry(t.Context(), system)
	if err != nil || entry != (access.Entry{}) {
		t.Errorf("after the upgrade, on a connection from before: %v, %v", entry, err)
	}
}

// A server whose administrator goes back to the accounts of before has no requests arrive at a
// service of this version. It does not have them arrive as those of the orchestrator.
func TestAccountsOfAnOlderVersionCutPartiesOff(t *testing.T) {
	s := accesstest.StartReloadable(t, nil, accesstest.OldParties()...)
	system, vera := s.As(t, orchestrator), s.As(t, viewer)
	at, err := (access.Entry{}).Subject("sb.api.get")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := system.Subscribe(at, func(m *nats.Msg) { _ = m.Respond([]byte(m.Subject)) }); err != nil {
		t.Fatal(err)
	}
	if err := system.Flush(); err != nil {
		t.Fatal(err)
	}
	if m, err := vera.Request("sb.api.get", nil, 10*time.Second); err != nil || string(m.Data) != "sb.in.view-vera.api.get" {
		t.Fatalf("%v, %v", m, err)
	}
	if m, err := system.Request("sb.api.get", nil, 10*time.Second); err != nil || string(m.Data) != "sb.in.signalbox.api.get" {
		t.Fatalf("of the own account: %v, %v", m, err)
	}
	accesstest.WriteOld(t, s.Keys)
	if err := s.Reload(); err != nil {
		t.Fatal(err)
	}
	for _, nc := range []*nats.Conn{vera, system} {
		if m, err := nc.Request("sb.api.get", nil, tries); err == nil {
			t.Errorf("a request arrives on %s", m.Data)
		}
	}
}
