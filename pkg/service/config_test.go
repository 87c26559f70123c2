package service_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/service"
)

func TestAFlagWinsOverTheEnvironmentOverTheFileOverTheDefault(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	yaml := write("c.yaml", "brain: from-file\ngrace: 5s\nrepo: [acme/a, acme/b]\nnats: nats://file:1\n")
	marked := write("m.yaml", "\ufeffbrain: from-marked\r\n")
	json := write("c.json", `{"brain": "from-json", "grace": "6s"}`)
	tests := []struct {
		name  string
		args  []string
		env   map[string]string
		brain string
		grace time.Duration
		repo  []string
		nats  string
	}{
		{name: "nothing given: the default", brain: "rules", grace: 30 * time.Second, nats: "nats://127.0.0.1:4222"},
		{name: "a YAML file", args: []string{"--config", yaml}, brain: "from-file", grace: 5 * time.Second, repo: []string{"acme/a", "acme/b"}, nats: "nats://file:1"},
		{name: "a YAML file with a byte order mark", args: []string{"--config", marked}, brain: "from-marked", grace: 30 * time.Second, nats: "nats://127.0.0.1:4222"},
		{name: "a JSON file", args: []string{"--config", json}, brain: "from-json", grace: 6 * time.Second, nats: "nats://127.0.0.1:4222"},
		{name: "a file named by the environment", env: map[string]string{"SIGNALBOX_CONFIG": json}, brain: "from-json", grace: 6 * time.Second, nats: "nats://127.0.0.1:4222"},
		{
			name: "the environment over the file", args: []string{"--config", yaml},
			env:   map[string]string{"SIGNALBOX_BRAIN": "from-env", "SIGNALBOX_REPO": "acme/c,acme/d", "NATS_URL": "nats://env:2"},
			brain: "from-env", grace: 5 * time.Second, repo: []string{"acme/c", "acme/d"}, nats: "nats://env:2",
		},
		{
			name: "a flag over both", args: []string{"--brain=from-flag", "--config", yaml, "--repo=acme/e", "--nats=nats://flag:3"},
			env:   map[string]string{"SIGNALBOX_BRAIN": "from-env", "SIGNALBOX_NATS": "nats://env:2"},
			brain: "from-flag", grace: 5 * time.Second, repo: []string{"acme/e"}, nats: "nats://flag:3",
		},
		{
			name: "our variable over NATS_URL", env: map[string]string{"SIGNALBOX_NATS": "nats://ours:4", "NATS_URL": "nats://theirs:5"},
			brain: "rules", grace: 30 * time.Second, nats: "nats://ours:4",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for name, value := range test.env {
				t.Setenv(name, value)
			}
			var p program
			call := service.Call{Name: "worker", Args: test.args, Stdout: io.Discard, Stderr: io.Discard}
			if _, err := service.Parse(&p, call); err != nil {
				t.Fatal(err)
			}
			if p.Brain != test.brain || p.Grace != test.grace || p.URL != test.nats || !slices.Equal(p.Repo, test.repo) {
				t.Errorf("brain %s, grace %s, repo %v, nats %s", p.Brain, p.Grace, p.Repo, p.URL)
			}
		})
	}
}

func TestATokenAmongTheArgumentsIsWarnedOf(t *testing.T) {
	var grammar struct {
		Token string `name:"forge-token"`
		File  string `name:"forge-token-file"`
	}
	for name, args := range map[string][]string{
		"service: --forge-token shows the token to every user of this machine: --forge-token-file and the environment do not\n": {"--forge-token", "x"},
		"": {"--forge-token-file", "x"},
	} {
		var said strings.Builder
		t.Setenv("SIGNALBOX_FORGE_TOKEN", "y")
		if _, err := service.Parse(&grammar, service.Call{Name: "service", Args: args, Stdout: &said, Stderr: &said}); err != nil || said.String() != name {
			t.Errorf("%q: %q, %v", args, said.String(), err)
		}
	}
}
