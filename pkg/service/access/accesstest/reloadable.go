package accesstest

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/service/access"
)

// Reloadable is a nats-server that reads its accounts from a directory of keys.
type Reloadable struct {
	*server.Server
	Keys access.Directory
}

// StartReloadable runs a server until the test ends. before, if not nil, changes the directory
// before the server reads it.
func StartReloadable(t testing.TB, before func(access.Directory), parties ...access.Party) *Reloadable {
	t.Helper()
	dir := t.TempDir()
	r := &Reloadable{Keys: access.Directory(filepath.Join(dir, "access"))}
	_, err := r.Keys.Init(parties...)
	must(t, err)
	if before != nil {
		before(r.Keys)
	}
	file := filepath.Join(dir, "nats.conf")
	must(t, os.WriteFile(file, fmt.Appendf(nil, "listen: \"127.0.0.1:-1\"\njetstream {store_dir: %q}\ninclude access/%s\n",
		filepath.Join(dir, "store"), access.ConfigFile), 0o600))
	options, err := server.ProcessConfigFile(file)
	must(t, err)
	options.NoLog, options.NoSigs = true, true
	r.Server, err = server.NewServer(options)
	must(t, err)
	r.Start()
	t.Cleanup(func() { r.Shutdown(); r.WaitForShutdown() })
	if !r.ReadyForConnections(time.Minute) {
		t.Fatal("the server did not start")
	}
	return r
}

// As connects with the seed that the party's file has now. It never reconnects.
func (r *Reloadable) As(t testing.TB, p access.Party) *nats.Conn {
	t.Helper()
	option, err := access.LoginFile(r.Keys.Seed(p))
	must(t, err)
	nc, err := nats.Connect(r.ClientURL(), option, nats.NoReconnect())
	must(t, err)
	t.Cleanup(nc.Close)
	return nc
}

// beforeUpgrade is the configuration that the versions wrote under which a header said who
// sends a request. KEY-PARTY stands for a key.
//
//go:embed before_upgrade.conf
var beforeUpgrade string

// OldParties are the parties of WriteOld.
func OldParties() []access.Party {
	return []access.Party{{Kind: access.Orchestrator}, {Kind: access.PlanManager}, {Kind: access.Gateway},
		{Kind: access.Agent, Name: "developer"}, {Kind: access.Agent, Name: "pm"},
		{Kind: access.View, Name: "vera"}, {Kind: access.Act, Name: "ann"}, {Kind: access.Admin, Name: "ada"}}
}

// WriteOld replaces the configuration in a directory of OldParties by that which an older
// version wrote for their keys.
func WriteOld(t testing.TB, d access.Directory) {
	t.Helper()
	all, err := d.Credentials()
	must(t, err)
	text := beforeUpgrade
	for _, c := range all {
		text = strings.ReplaceAll(text, "KEY-"+c.String()+"}", c.Key+"}")
	}
	must(t, os.WriteFile(filepath.Join(string(d), access.ConfigFile), []byte(text), 0o600))
}
