package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/document/prd"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
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
	if err := os.Mkdir(filepath.Join(g.Dir(), ".signalbox"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(g.Dir(), ".signalbox", "config.yaml"), "policy: {auto_merge: false}\n")
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
	if strings.Contains(stderr.String(), "is not kept in step") {
		t.Errorf("it says %s", stderr.String())
	}
	var shown bytes.Buffer
	env := term.Env{Stdin: strings.NewReader(""), Stdout: &shown, Stderr: &stderr, User: "operator:ann", Now: time.Now}
	code := cli.Run(t.Context(), env, []string{"show", "acme/widgets/US-1", "--json", "--data", filepath.Join(dir, "data")})
	if want := `"policy":{"auto_merge":"false"}`; code != 0 || !strings.Contains(shown.String(), want) {
		t.Errorf("the story does not go by the repository's configuration: %d, %s", code, shown.String())
	}
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

func TestUpPrintsSevenLinesAndKeepsTheRestInItsLogFile(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	g, data := gittest.Repo(t), filepath.Join(t.TempDir(), "data")
	gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", "first")
	if err := os.WriteFile(filepath.Join(g.Dir(), ".signalbox.yaml"), []byte("test: {command: 'true'}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	gittest.Run(t, g, "add", "-A")
	gittest.Run(t, g, "commit", "-q", "-m", "second")
	up := func(t *testing.T, args ...string) (said []string) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		out, end := io.Pipe()
		ended := make(chan int, 1)
		go func() {
			env := term.Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: end, User: "operator:ann", Now: time.Now}
			ended <- cli.Run(ctx, env, append([]string{"up", "--data", data, "--repo", "acme/widgets=" + g.Dir(), "--listen", "127.0.0.1:0", "--sandbox", "none",
				"--brain", "developer=exec:true"}, args...))
			end.Close()
		}()
		for lines := bufio.NewScanner(out); lines.Scan(); {
			said = append(said, lines.Text())
			if strings.HasPrefix(lines.Text(), "Ctrl-C ") {
				cancel()
			}
		}
		if code := <-ended; code != 0 {
			t.Errorf("it ended with %d", code)
		}
		return said
	}
	said := up(t)
	want := []string{"console http://127.0.0.1:", "forge   http://127.0.0.1:", "sign in http://127.0.0.1:", "NATS    nats://127.0.0.1:", "sandbox none (not confined: everything)",
		"data    " + data + ", log in " + filepath.Join(data, "signalbox.log"), "Ctrl-C  ends it when what is under way has ended, after 30s at the latest"}
	if len(said) != len(want) {
		t.Errorf("it prints %d lines, want %d:\n%s", len(said), len(want), strings.Join(said, "\n"))
	}
	for i := range min(len(said), len(want)) {
		if !strings.HasPrefix(said[i], want[i]) {
			t.Errorf("line %d is %q, want %q", i+1, said[i], want[i])
		}
	}
	log, err := os.ReadFile(filepath.Join(data, "signalbox.log"))
	if err != nil || !strings.Contains(string(log), `"msg":"running"`) || strings.Contains(strings.Join(said, ""), `"msg":"running"`) {
		t.Errorf("the log file has %q, %v", log, err)
	}
	if said := up(t, "--verbose"); !strings.Contains(strings.Join(said, "\n"), `"msg":"running"`) {
		t.Errorf("with --verbose it prints %q", said)
	}
}

// finish runs a system over a repository with the files until a developer's brain, a
// program, has done acme/widgets/1. It returns the repository, whose checkout is untouched,
// the directory of the data, and what the system said.
func finish(t *testing.T, files map[string]string) (g git.Runner, data, said string) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir := t.TempDir()
	g, data = gittest.Repo(t), filepath.Join(dir, "data")
	all := map[string]string{
		filepath.Join(g.Dir(), ".signalbox.yaml"): "test: {command: grep -q hello greeting}\n", filepath.Join(g.Dir(), "greeting"): "hello\n",
		filepath.Join(dir, "issue.md"): "# The greeting is too short\n\nSteps: run cat greeting. It prints hello. Expected: it prints hello, world. " +
			"The file is greeting.\nIt is done when the greeting says hello, world.\n",
	}
	for name, text := range files {
		all[filepath.Join(g.Dir(), name)] = text
	}
	for name, text := range all {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	gittest.Run(t, g, "add", "-A")
	gittest.Run(t, g, "commit", "-q", "-m", "first")
	was := gittest.Run(t, g, "rev-parse", "HEAD")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, end := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		env := term.Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: end, User: "operator:ann", Now: time.Now}
		ended <- cli.Run(ctx, env, []string{"up", "--data", data, "--repo", "acme/widgets=" + g.Dir(), "--listen", "127.0.0.1:0",
			"--sandbox", "none", "--every", "100ms", "--sync", "100ms", "--brain", "developer=exec:echo hello, world > greeting"})
		end.Close()
	}()
	open := func(url string) {
		var told bytes.Buffer
		env := term.Env{Stdin: strings.NewReader(""), Stdout: &told, Stderr: &told, User: "operator:ann", Now: time.Now}
		if code := cli.Run(ctx, env, []string{"open", "issue", "--id", "acme/widgets/1", "--file", filepath.Join(dir, "issue.md"), "--repo", "acme/widgets",
			"--nats", url}); code != 0 {
			t.Errorf("open ended with %d: %s", code, told.String())
			cancel()
		}
	}
	var lines strings.Builder
	var opening sync.WaitGroup
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		line := scanner.Text()
		lines.WriteString(line + "\n")
		if url, found := strings.CutPrefix(line, "NATS    "); found {
			url, _, _ = strings.Cut(url, ",")
			opening.Go(func() { open(url) })
		}
		if strings.Contains(line, " is in "+g.Dir()) {
			cancel()
		}
	}
	opening.Wait()
	<-ended
	if head, status := gittest.Run(t, g, "rev-parse", "HEAD"), gittest.Run(t, g, "status", "--porcelain"); head != was || status != "" {
		t.Errorf("the checkout is touched: %s, %q", head, status)
	}
	return g, data, lines.String()
}

func TestUpPrintsMovesOnATerminalAndSaysWhenItWaitsForPeople(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	g, data := gittest.Repo(t), filepath.Join(t.TempDir(), "data")
	gittest.Run(t, g, "commit", "-q", "--allow-empty", "-m", "first")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, end := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		env := term.Env{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: end, User: "operator:ann", Now: time.Now, Clock: true}
		ended <- cli.Run(ctx, env, []string{"up", "--data", data, "--repo", "acme/widgets=" + g.Dir(), "--listen", "127.0.0.1:0", "--sandbox", "none",
			"--every", "100ms", "--sync", "100ms", "--brain", "developer=exec:true"})
		end.Close()
	}()
	var lines strings.Builder
	var opening sync.WaitGroup
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		line := scanner.Text()
		lines.WriteString(line + "\n")
		if url, found := strings.CutPrefix(line, "NATS    "); found {
			url, _, _ = strings.Cut(url, ",")
			opening.Go(func() {
				var said bytes.Buffer
				env := term.Env{Stdin: strings.NewReader(""), Stdout: &said, Stderr: &said, User: "operator:ann", Now: time.Now}
				if code := cli.Run(ctx, env, []string{"open", "issue", "--id", "acme/widgets/1", "--title", "It breaks", "--repo", "acme/widgets", "--nats", url}); code != 0 {
					t.Errorf("open ended with %d: %s", code, said.String())
					cancel()
				}
			})
		}
		if strings.Contains(line, "    signalbox answer acme/widgets/1") {
			cancel()
		}
	}
	opening.Wait()
	<-ended
	// The first moves may come before up watches the log.
	for _, want := range []string{"  acme/widgets/1  asked Q1  ", "  acme/widgets/1  requirements_unclear → waiting_for_requirements_clarification  ",
		"\n>>> acme/widgets/1 WAITS FOR YOU: ", "\n    signalbox answer acme/widgets/1\n"} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("%q is not in:\n%s", want, lines.String())
		}
	}
}

func TestAFinishedBranchIsInTheRepository(t *testing.T) {
	g, _, said := finish(t, nil)
	if strings.Contains(said, "received") {
		t.Errorf("up prints moves without a terminal:\n%s", said)
	}
	_, branch, found := strings.Cut(said, "  branch ")
	branch, _, _ = strings.Cut(branch, " is in "+g.Dir())
	if !found || !strings.HasPrefix(branch, "signalbox/") {
		t.Fatalf("it says %s", said)
	}
	if got := gittest.Run(t, g, "show", branch+":greeting"); got != "hello, world" {
		t.Errorf("the branch has %q", got)
	}
}

func TestATemplateThatIsNotUsedIsNamedWhereTheWorkIsExplained(t *testing.T) {
	_, data, said := finish(t, map[string]string{".signalbox/prompts/developer.tmpl": "One\nTwo\n{{.Isue}}\n"})
	run := func(args ...string) string {
		var out bytes.Buffer
		env := term.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, User: "operator:ann", Now: time.Now}
		if code := cli.Run(t.Context(), env, append(args, "acme/widgets/1", "--data", data)); code != 0 {
			t.Fatalf("%v ended with %d: %s\n%s", args, code, out.String(), said)
		}
		return out.String()
	}
	const wrong = ".signalbox/prompts/developer.tmpl:3:2: at .Isue: can't evaluate field Isue in type prompt.Data"
	for _, c := range []struct {
		command []string
		want    string
	}{
		{[]string{"explain"}, "\n  templates    A template is not used: " + wrong + "\n" +
			"               shipped/developer.implementing.tmpl (shipped) is in its place. Correct it on the branch"},
		{[]string{"explain", "--json"}, `"templates":[{"template":".signalbox/prompts/developer.tmpl","wrong":"` + wrong +
			`","used":"shipped/developer.implementing.tmpl (shipped)"}]`},
		{[]string{"show"}, " (template): a template of the prompt cannot be used, "},
	} {
		if got := run(c.command...); !strings.Contains(got, c.want) {
			t.Errorf("%v has no %q:\n%s", c.command, c.want, got)
		}
	}
}
