package localforge_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-github/v60/github"

	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/localforge"
)

// childDir tells the test binary that it is the forge to be killed.
const childDir = "LOCAL_FORGE_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		serveForever(dir)
	}
	os.Exit(m.Run())
}

// serveForever serves a forge, prints where, and waits to be killed, or for the
// end of who started it.
func serveForever(dir string) {
	f, err := localforge.Open(localforge.Config{Dir: dir, Users: users()})
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	server := httptest.NewServer(f.Handler())
	fmt.Println(server.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// TestMergeKilledHalfwayIsAMerge is a forge killed after the base moved and before it
// was written down: the journal ends with the decision.
func TestMergeKilledHalfwayIsAMerge(t *testing.T) {
	w := newEnv(t)
	rob, work := w.client(t, robToken), w.clone(t, robToken)
	w.propose(t, rob, work, "topic", "topic.txt", "x\n")
	merged, _, err := rob.PullRequests.Merge(t.Context(), owner, name, 1, "", &github.PullRequestOptions{MergeMethod: "squash"})
	must(t, err)
	must(t, w.Close())
	path := filepath.Join(w.dir, "journal.jsonl")
	whole, err := os.ReadFile(path)
	must(t, err)
	lines := strings.SplitAfter(strings.TrimSuffix(string(whole), "\n"), "\n")
	if decision := lines[len(lines)-2]; !strings.Contains(decision, `"merging":{"sha":"`+merged.GetSHA()) {
		t.Fatalf("the last line but one is %s", decision)
	}
	must(t, os.WriteFile(path, []byte(strings.Join(lines[:len(lines)-1], "")), 0o600))
	w.open(t)
	pr, _, err := w.client(t, adaToken).PullRequests.Get(t.Context(), owner, name, 1)
	must(t, err)
	if !pr.GetMerged() || pr.GetMergeCommitSHA() != merged.GetSHA() || pr.GetMergedBy().GetLogin() != "rob[bot]" {
		t.Errorf("pull request = %v", pr)
	}
}

// child is a forge in a process of its own.
type child struct {
	url string
	cmd *exec.Cmd
}

func startChild(t *testing.T, dir string) *child {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	_, err := cmd.StdinPipe() // ends with this process
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	if strings.HasPrefix(line, "error:") {
		t.Fatal(line)
	}
	return &child{url: strings.TrimSpace(line), cmd: cmd}
}

// kill ends the process without a warning.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait() // it says that it was killed
}

func TestWhatWasAnsweredSurvivesKill(t *testing.T) {
	w := newEnv(t)
	must(t, w.Close())
	answered := map[string]bool{}
	for round := range 6 {
		c := startChild(t, w.dir)
		api, err := github.NewClient(nil).WithAuthToken(robToken).WithEnterpriseURLs(c.url, c.url)
		must(t, err)
		var mu sync.Mutex
		var wait sync.WaitGroup
		done, enough := 0, make(chan struct{})
		for worker := range 4 {
			wait.Go(func() {
				for n := 0; ; n++ {
					title := fmt.Sprintf("%d-%d-%d", round, worker, n)
					if _, _, err := api.Issues.Create(t.Context(), owner, name, &github.IssueRequest{Title: &title}); err != nil {
						return // killed
					}
					mu.Lock()
					answered[title] = true
					if done++; done == 11 {
						close(enough)
					}
					mu.Unlock()
				}
			})
		}
		<-enough
		c.kill()
		wait.Wait()
	}
	w.open(t)
	titles := map[string]int{}
	for page := 1; page > 0; {
		rows, resp, err := w.client(t, adaToken).Issues.ListByRepo(t.Context(), owner, name, &github.IssueListByRepoOptions{ListOptions: github.ListOptions{PerPage: 100, Page: page}})
		must(t, err)
		for _, row := range rows {
			titles[row.GetTitle()]++
		}
		page = resp.NextPage
	}
	for title := range answered {
		if titles[title] != 1 {
			t.Errorf("%s was answered for and is there %d times", title, titles[title])
		}
	}
}

func TestMergesSurviveKill(t *testing.T) {
	w := newEnv(t)
	rob, work := w.client(t, robToken), w.clone(t, robToken)
	const count = 5
	for n := range count {
		gittest.Run(t, work, "checkout", "-q", "main")
		w.propose(t, rob, work, fmt.Sprintf("topic-%d", n), fmt.Sprintf("%d.txt", n), "x\n")
	}
	must(t, w.Close())
	for n := range count {
		c := startChild(t, w.dir)
		api, err := github.NewClient(nil).WithAuthToken(robToken).WithEnterpriseURLs(c.url, c.url)
		must(t, err)
		done := make(chan struct{})
		go func() {
			defer close(done)
			// It is killed somewhere in here, or after it.
			_, _, _ = api.PullRequests.Merge(t.Context(), owner, name, n+1, "", &github.PullRequestOptions{MergeMethod: "squash"})
		}()
		// Every round asks a few more questions before the kill, so that it falls elsewhere.
		for range n * 3 {
			_, _, err := api.Users.Get(t.Context(), "ada")
			must(t, err)
		}
		c.kill()
		<-done
	}
	w.open(t)
	ada := w.client(t, adaToken)
	fresh := w.clone(t, adaToken)
	log := gittest.Run(t, fresh, "log", "--format=%s")
	for n := range count {
		pr, _, err := ada.PullRequests.Get(t.Context(), owner, name, n+1)
		must(t, err)
		inMain := strings.Contains(log, fmt.Sprintf("(#%d)", n+1))
		if pr.GetMerged() != inMain {
			t.Errorf("#%d: merged is %t, in main is %t", n+1, pr.GetMerged(), inMain)
		}
		if pr.GetMerged() {
			continue
		}
		_, _, err = ada.PullRequests.Merge(t.Context(), owner, name, n+1, "", nil)
		must(t, err) // nothing is in the way of doing it again
	}
	gittest.Run(t, git.New(fresh.Dir()).WithToken(w.url, adaToken), "pull", "-q", "--ff-only")
	for n := range count {
		if _, err := os.Stat(filepath.Join(fresh.Dir(), fmt.Sprintf("%d.txt", n))); err != nil {
			t.Error(err)
		}
	}
}
