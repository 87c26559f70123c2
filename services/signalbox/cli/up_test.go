package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/prd"
	"github.com/signalbox/signalbox/services/signalbox/cli"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

const planOfOne = `{
  "stories": [
    {"id": "US-1", "title": "Greet the world", "acceptanceCriteria": [{"command": "grep -q world greeting"}], "status": "pending", "mine": 1}
  ]
}
`

func TestAPlanIsKeptInStepWhileTheSystemIsUp(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	g, dir := gittest.Repo(t), t.TempDir()
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(g.Dir(), "greeting"), "hello\n")
	gittest.Run(t, g, "add", "-A")
	gittest.Run(t, g, "commit", "-q", "-m", "first")
	file := filepath.Join(dir, "prd.json")
	write(file, planOfOne)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		env := term.Env{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, User: "operator:ann", Now: time.Now}
		ended <- cli.Run(ctx, env, []string{"up", "--data", filepath.Join(dir, "data"), "--repo", "acme/widgets=" + g.Dir(), "--listen", "127.0.0.1:0",
			"--sandbox", "none", "--every", "100ms", "--sync", "100ms", "--prd", file, "--brain", "developer=exec:echo hello, world > greeting"})
	}()
	var story prd.Story
	for story.PR == 0 {
		select {
		case code := <-ended:
			t.Fatalf("it ended with %d: the story is %+v\n%s", code, story, stderr.String())
		case <-time.After(50 * time.Millisecond):
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := prd.Parse(file, text)
		if err != nil || !strings.Contains(string(text), `"mine": 1`) {
			t.Fatalf("%s: %v", text, err)
		}
		story = plan.Stories[0]
	}
	if story.Status != prd.Pushed || story.LastActivityBy != "bot" {
		t.Errorf("the story is %+v", story)
	}
	cancel()
	<-ended
}

func TestAPlanIsAboutOneRepository(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prd.json")
	if err := os.WriteFile(file, []byte(planOfOne), 0o644); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	code := cli.Run(t.Context(), term.Env{Stdin: strings.NewReader(""), Stdout: &bytes.Buffer{}, Stderr: &stderr, Now: time.Now},
		[]string{"up", "--prd", file, "--repo", "a/b=.", "--repo", "c/d=."})
	if code != 2 || !strings.Contains(stderr.String(), "one repository") {
		t.Errorf("it ended with %d: %s", code, stderr.String())
	}
}
