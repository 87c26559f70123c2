// Package accesstest runs a real nats-server with the accounts of some parties inside a
// test.
package accesstest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/service/access"
)

// Server is a nats-server with accounts.
type Server struct {
	*natstest.Server
	keys map[access.Party]nkeys.KeyPair
}

// ConfigVariable is the environment variable that names a configuration file which includes
// access/accounts.conf. If it is set the servers of Start have all of that file, but for where
// they listen and store: so the attacks of tests are made on a configuration that is deployed.
const ConfigVariable = "SIGNALBOX_TEST_NATS_CONFIG"

// Start runs a server that knows the parties and nobody else.
func Start(t testing.TB, parties ...access.Party) *Server {
	t.Helper()
	s := &Server{keys: map[access.Party]nkeys.KeyPair{}}
	var all []access.Credential
	for _, p := range parties {
		key, err := nkeys.CreateUser()
		must(t, err)
		public, err := key.PublicKey()
		must(t, err)
		s.keys[p] = key
		all = append(all, access.Credential{Party: p, Key: public})
	}
	config, err := access.Config(all)
	must(t, err)
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "access"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "access", access.ConfigFile), []byte(config), 0o600))
	deployed, text := os.Getenv(ConfigVariable), []byte("include access/"+access.ConfigFile)
	if deployed != "" {
		text, err = os.ReadFile(deployed)
		must(t, err)
	}
	file := filepath.Join(dir, "nats.conf")
	must(t, os.WriteFile(file, text, 0o600))
	read, err := server.ProcessConfigFile(file)
	if err != nil {
		t.Fatalf("%v in\n%s", err, config)
	}
	s.Server = natstest.Start(t, natstest.Options{Change: func(o *server.Options) {
		if deployed == "" {
			o.Accounts, o.Nkeys = read.Accounts, read.Nkeys
			return
		}
		read.Host, read.Port, read.HTTPHost, read.HTTPPort, read.StoreDir = o.Host, o.Port, "", 0, o.StoreDir
		read.NoSigs, read.NoLog, read.SyncAlways = o.NoSigs, o.NoLog, o.SyncAlways
		*o = *read
	}})
	return s
}

// As connects as a party.
func (s *Server) As(t testing.TB, p access.Party, options ...nats.Option) *nats.Conn {
	t.Helper()
	key := s.keys[p]
	public, err := key.PublicKey()
	must(t, err)
	return s.Connect(t, append(options, nats.Nkey(public, key.Sign))...)
}

// Key returns a file with the seed of a party, as --nats-nkey wants it.
func (s *Server) Key(t testing.TB, p access.Party) string {
	t.Helper()
	seed, err := s.keys[p].Seed()
	must(t, err)
	file := filepath.Join(t.TempDir(), p.String()+".nk")
	must(t, os.WriteFile(file, seed, 0o600))
	return file
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
