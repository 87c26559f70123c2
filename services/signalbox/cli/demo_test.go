package cli_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/services/signalbox/cli"
	"github.com/signalbox/signalbox/services/signalbox/term"
	"github.com/signalbox/signalbox/services/signalbox/view"
)

func TestTheDemonstrationPrintsItsEventsAsJSONAndNothingElse(t *testing.T) {
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	var stdout, stderr bytes.Buffer
	env := term.Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, User: "operator:ann", Now: time.Now}
	if code := cli.Run(t.Context(), env, []string{"demo", "--json", "--data", filepath.Join(t.TempDir(), "data")}); code != 0 {
		t.Fatalf("it ended with %d\n%s", code, stderr.String())
	}
	var all []view.Event
	for line := range strings.Lines(stdout.String()) {
		var e view.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Event == "" || e.Seq == 0 || e.Instance != "acme/widgets/1" {
			t.Fatalf("%q is no event: %v", line, err)
		}
		all = append(all, e)
	}
	if len(all) == 0 || all[0].Event != "opened" || !slices.ContainsFunc(all, func(e view.Event) bool { return e.To == "completed" }) {
		t.Errorf("the events are\n%s", stdout.String())
	}
	if !strings.Contains(stderr.String(), "pull request  http://127.0.0.1:") {
		t.Errorf("it tells\n%s", stderr.String())
	}
}
