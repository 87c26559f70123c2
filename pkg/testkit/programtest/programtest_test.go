package programtest_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/testkit/programtest"
)

func TestEachServiceHasAProgramThatKnowsItsName(t *testing.T) {
	t.Parallel()
	dir := programtest.Services(t)
	mains, err := filepath.Glob("../../../services/*/main.go")
	if err != nil || len(mains) == 0 {
		t.Fatalf("the services are %q, %v", mains, err)
	}
	for _, main := range mains {
		name := filepath.Base(filepath.Dir(main))
		if name == "signalbox-github" { // which is called by the names of its services
			continue
		}
		if out, err := exec.CommandContext(t.Context(), filepath.Join(dir, name), "--help").CombinedOutput(); err != nil || !strings.Contains(string(out), "Usage: "+name) {
			t.Errorf("%s --help: %v\n%s", name, err, out)
		}
	}
}

func TestTheNATSServerSaysItsVersion(t *testing.T) {
	t.Parallel()
	if out, err := exec.CommandContext(t.Context(), programtest.NATSServer(t), "--version").CombinedOutput(); err != nil || !strings.Contains(string(out), "nats-server") {
		t.Errorf("%v\n%s", err, out)
	}
}
