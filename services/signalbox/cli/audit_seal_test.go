package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
)

// A history that was written again is sound in itself: only the seal tells.
func TestALogThatWasRewrittenIsNotTheOneThatWasSealed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key, seal := filepath.Join(dir, "seal.key"), filepath.Join(dir, "seal.json")
	sealing := []string{"--seal", seal, "--seal-key", key}
	audit := func(code int, at *natstest.Server, flags ...string) string {
		return runCLI(t, code, append([]string{"audit", "--nats", at.URL}, flags...)...)
	}
	logOf := func(ids ...string) *natstest.Server {
		s := natstest.Start(t, natstest.Options{})
		t.Cleanup(orchestrate(t, s.URL))
		for _, id := range ids {
			opened(t, s.Connect(t), id)
		}
		return s
	}
	log, rewritten, short := logOf("a/1", "a/2", "a/3"), logOf("a/1", "a/4", "a/3"), logOf("a/1", "a/2")

	first := audit(0, log, sealing...)
	contains(t, first, "none before; sealed up to 3 now, by O", "nothing missing")
	public := regexp.MustCompile(`by (O[A-Z0-9]+)`).FindStringSubmatch(first)[1]
	before, err := os.ReadFile(seal)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key: %v, %v", info.Mode(), err)
	}
	contains(t, audit(0, log, "--seal", seal, "--sealed-by", public), "up to 3 as it was at 20")

	for _, at := range []*natstest.Server{rewritten, short} {
		contains(t, audit(0, at), "nothing missing")
	}
	contains(t, audit(1, rewritten, sealing...), "sealed", "is not the one that was sealed at 20", "the log has 1 violation")
	contains(t, audit(1, rewritten, "--seal", seal, "--sealed-by", public), "is not the one that was sealed at 20")
	contains(t, audit(1, short, sealing...), "sealed", "and ends at 2")
	if after, err := os.ReadFile(seal); err != nil || string(after) != string(before) {
		t.Errorf("a log that is wrong was sealed: %s, %v", after, err)
	}

	// The log goes on: what was sealed is still there.
	opened(t, log.Connect(t), "a/5")
	contains(t, audit(0, log, sealing...), "up to 3 as it was at 20", "; sealed up to 4 now")

	// Nobody makes a seal without the key.
	for name, wrong := range map[string]string{
		"another digest": strings.Replace(string(before), `"digest":"`, `"digest":"00`, 1),
		"another place":  strings.Replace(string(before), `"seq":3`, `"seq":2`, 1),
		"no signature":   regexp.MustCompile(`"signature":"[^"]*"`).ReplaceAllString(string(before), `"signature":""`),
		"nothing":        "{}",
	} {
		if err := os.WriteFile(seal, []byte(wrong), 0o600); err != nil {
			t.Fatal(err)
		}
		if out := audit(1, log, sealing...); !strings.Contains(out, "is not signed with "+public) {
			t.Errorf("%s: %s", name, out)
		}
	}
	if err := os.WriteFile(seal, before, 0o600); err != nil {
		t.Fatal(err)
	}
	contains(t, audit(1, log, "--seal", seal, "--seal-key", filepath.Join(dir, "another.key")), "is not signed with O")
	login, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := login.Seed()
	if err != nil {
		t.Fatal(err)
	}
	user := filepath.Join(dir, "admin.nk")
	if err := os.WriteFile(user, seed, 0o600); err != nil {
		t.Fatal(err)
	}
	contains(t, audit(2, log, "--seal", seal, "--seal-key", user), "not one that logs in")
	contains(t, audit(2, log, "--seal", seal), "want the --seal-key FILE")
	contains(t, audit(2, log, "--seal-key", key), "say with --seal FILE")
	contains(t, audit(2, log, "--seal", filepath.Join(dir, "nosuch"), "--sealed-by", public), "no such file")
}
