package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
)

func TestALogIsAuditedElsewhereFromABundle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	server := natstest.Start(t, natstest.Options{})
	t.Cleanup(orchestrate(t, server.URL))
	nc := server.Connect(t)
	c := opened(t, nc, "a/1")
	opened(t, nc, "a/2")
	_, err := c.Override(t.Context(), "a/1", "completed", "by hand")
	must(t, err)

	nats := []string{"--nats", server.URL, "--seal-key", at("key")}
	audit := func(code int, args ...string) string { return runCLI(t, code, append([]string{"audit"}, args...)...) }
	out := audit(0, append(nats, "--export", at("log.zip"), "--seal", at("seal"))...)
	public := regexp.MustCompile(`--sealed-by (O[A-Z0-9]+)`).FindStringSubmatch(out)[1]
	contains(t, audit(0, append(nats, "--export", at("one.zip"), "--instance", "a/1")...), "one.zip --sealed-by "+public)
	contains(t, audit(1, append(nats, "--export", at("none.zip"), "--instance", "a/3")...), "the log has no instance a/3")
	if left, err := filepath.Glob(at(".*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}

	by := []string{"--sealed-by", public}
	contains(t, audit(0, append(by, "--bundle", at("log.zip"), "--decisions")...),
		"a log with 3 commits of 2 instances", "up to 3 as it was at", "all commits of the log", "every move permitted")
	contains(t, audit(0, append(by, "--bundle", at("one.zip"))...), "all 2 commits of a/1", "that the index is that of the log")
	contains(t, audit(0, append(by, "--bundle", at("one.zip"), "--json")...), `"instance":"a/1"`, `"violations":[]`)
	contains(t, audit(0, append(by, "--bundle", at("one.zip"), "--sarif")...), `"version":"2.1.0"`, `"results":[]`)
	text, err := os.ReadFile(at("log.zip"))
	must(t, err)
	must(t, os.WriteFile(at("cut.zip"), text[:len(text)/2], 0o600))
	contains(t, audit(1, append(by, "--bundle", at("cut.zip"))...), "the bundle is refused: the file is cut off")
	contains(t, audit(1, "--bundle", at("log.zip"), "--sealed-by", strings.Repeat("O", 56)), "want the key of a seal")
	for _, wrong := range [][]string{
		{"--bundle", at("log.zip")}, {"--export", at("x.zip")}, {"--instance", "a/1"},
		{"--bundle", at("log.zip"), "--export", at("x.zip")}, {"--bundle", at("log.zip"), "--sealed-by", public, "--seal", at("seal")},
	} {
		audit(2, wrong...)
	}
}
