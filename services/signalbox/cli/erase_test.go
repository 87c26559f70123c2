package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
)

// A person's texts are in no file of the new log, and the seal of before holds.
func TestThePersonsTextsAreErasedAndTheSealHolds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	server := natstest.Start(t, natstest.Options{})
	stop := orchestrate(t, server.URL)
	c := client.New(server.Connect(t), "operator:bob")
	for id, author := range map[string]string{"a/1": "octocat", "a/2": "ann"} {
		_, err := c.Open(t.Context(), "", "issue", id, instance.Issue{Title: "It breaks", Body: "said by " + author, Author: author})
		must(t, err)
	}
	stop()
	nats := []string{"--nats", server.URL}
	sealed := runCLI(t, 0, append(nats, "audit", "--seal", at("seal"), "--seal-key", at("key"))...)
	public := regexp.MustCompile(`by (O[A-Z0-9]+)`).FindStringSubmatch(sealed)[1]
	contains(t, runCLI(t, 0, append(nats, "backup", at("backup"), "--seal", at("seal"))...), "up to 2, by "+public)

	erase := func(code int, args ...string) string { return runCLI(t, code, append([]string{"erase"}, args...)...) }
	contains(t, erase(0, at("backup"), at("erased"), "--person", "octocat", "--seal-key", at("key")),
		"texts of 1 commit of 1 instance", "1 instance of them: agents go on", "by "+public)
	contains(t, erase(1, at("backup"), at("erased"), "--person", "octocat", "--seal-key", at("key")), "is not empty")
	contains(t, runCLI(t, 0, "backup", at("erased"), "--verify"), "whole", "up to 2, by "+public)
	contains(t, runCLI(t, 0, "restore", at("erased"), "--data", at("data")), "restored")
	contains(t, runCLI(t, 0, "audit", "--data", at("data"), "--seal", at("seal"), "--sealed-by", public),
		"texts of 1 commit, by "+public, "up to 2 as it was at", "nothing missing")
	shown := runCLI(t, 0, "export", "--jsonl", "--data", at("data"))
	if strings.Contains(shown, "octocat") || !strings.Contains(shown, `"reason":"It breaks"`) {
		t.Errorf("what is left is\n%s", shown)
	}
	contains(t, runCLI(t, 0, "show", "a/1", "--data", at("data")), "erased")

	// With another key than that of the seal it is a violation.
	contains(t, runCLI(t, 0, "audit", "--data", at("data"), "--seal", at("other.seal"), "--seal-key", at("key")), "nothing missing")
	must(t, os.Remove(at("other.seal")))
	contains(t, runCLI(t, 1, "audit", "--data", at("data"), "--seal", at("other.seal"), "--seal-key", at("other.key")), "its erasure is not signed with this key")
}
