package cli

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/service/embedded"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

var passing = regexp.MustCompile(`,"(time_in_state|total_time)_s":[0-9.e-]+`)

func TestAStoppedSystemReadsLikeARunningOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, err := embedded.Start(embedded.Config{Dir: filepath.Join(dir, "log"), Sync: time.Second, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	stop := orchestrate(t, server.ClientURL())
	nc, err := server.Connect()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a/waiting", "a/working", "a/ended", "a/paused"} {
		opened(t, nc, id)
	}
	c := client.New(nc, "operator:bob")
	_, waits := c.Override(t.Context(), "a/waiting", "waiting_for_human_input", "by hand")
	_, ends := c.Override(t.Context(), "a/ended", "completed", "by hand")
	_, pauses := c.Pause(t.Context(), "a/paused", "lunch")
	_, claims := claim(t.Context(), nc, "pm", "a/working")
	for _, err := range []error{waits, ends, pauses, claims} {
		if err != nil {
			t.Fatal(err)
		}
	}

	now := time.Now()
	run := func(args ...string) string {
		var out bytes.Buffer
		env := term.Env{Stdout: &out, Stderr: &out, Now: func() time.Time { return now }}
		if code := Run(t.Context(), env, args); code != 0 {
			t.Errorf("%v ended with %d", args, code)
		}
		return passing.ReplaceAllString(out.String(), "") // time goes on between the two
	}
	commands := [][]string{
		{"ls", "--all"}, {"ls"}, {"ls", "--all", "--json"}, {"ls", "--waiting"}, {"ls", "--state", "completed"}, {"ls", "issue-navigator"},
		{"show", "a/working"}, {"show", "a/paused", "--json"}, {"history", "a/ended"}, {"history", "a/waiting", "--json"},
		{"explain", "a/waiting"},
	}
	want := make([]string, len(commands))
	for i, command := range commands {
		want[i] = run(append(command, "--nats", server.ClientURL())...)
	}
	var out bytes.Buffer
	env := term.Env{Stdout: &out, Stderr: &out, Now: time.Now}
	if code := Run(t.Context(), env, []string{"ls", "--data", dir}); code != 1 {
		t.Errorf("read from under a running system: it ended with %d", code)
	}
	contains(t, out.String(), "in use by another process")
	contains(t, out.String(), "without --data a running `signalbox up` is asked")

	nc.Close()
	stop()
	server.Shutdown()
	for i, command := range commands {
		if d := cmp.Diff(want[i], run(append(command, "--data", dir)...)); d != "" {
			t.Errorf("%v (-running +stopped):\n%s", command, d)
		}
	}
	t.Run("and asks for names that are nearly right", func(t *testing.T) {
		for line, says := range map[string]string{"ls --state implmenting": "did you mean implementing?", "ls --worker develper": "did you mean developer?",
			"ls isue": `did you mean "issue"?`, "show a/endd": "a/endd: no such instance", "history a/wokring": "a/wokring: no such instance"} {
			code, out := ended(t, append(strings.Fields(line), "--data", dir)...)
			if code == 0 || !strings.Contains(out, says) {
				t.Errorf("%q ended with %d: %s", line, code, out)
			}
		}
		if _, out := ended(t, "complete", "show", "--data", dir, "a/w"); out != "a/waiting\na/working\n" {
			t.Errorf("it completes %q", out)
		}
	})
	t.Run("where everybody that should work is stuck", func(t *testing.T) {
		contains(t, run("ls", "--stuck", "--data", dir), "a/working", "a/paused")
	})
}
