package e2e

import (
	"path/filepath"
	"testing"

	"github.com/signalbox/signalbox/pkg/testkit/programtest"
)

// binary returns the path of the binary of a service or of nats-server.
func binary(t *testing.T, name string) string {
	t.Helper()
	if name == "nats-server" {
		return programtest.NATSServer(t)
	}
	return filepath.Join(programtest.Services(t), name)
}

// roleNames returns the services that work on code, in the order they are started.
func roleNames() []string { return []string{"analyst", "tester", "developer", "navigator"} }

// serviceNames returns the services that each run as a process.
func serviceNames() []string {
	return append([]string{"orchestrator", "gateway", "pm"}, roleNames()...)
}
