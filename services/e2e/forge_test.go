package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain/rules"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/localforge"
)

const (
	repo     = "acme/answers"
	botToken = "bot-token"
	annToken = "ann-token"
	bobToken = "bob-token"
)

// testForge is a forge in this process with one repository, as ann sees it.
type testForge struct {
	url string
	ann *github.Client
}

func startForge(t *testing.T) *testForge {
	t.Helper()
	f, url := serveForge(t, []string{repo}, answersRepo(t))
	f.SetURL(url)
	return connectForge(t, url)
}

// serveForge serves a forge whose repositories all start from one. Unless its URL
// is set, it uses the address of each request.
func serveForge(t *testing.T, repos []string, from string) (*localforge.Forge, string) {
	t.Helper()
	f, err := localforge.Open(localforge.Config{Dir: ownDir(t), Public: true, Users: []localforge.User{
		{Login: "signalbox", Token: botToken, Type: "Bot", Permission: "write"},
		{Login: "ann", Token: annToken, Permission: "admin"},
		{Login: "bob", Token: bobToken, Permission: "write"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(f.Handler())
	t.Cleanup(func() {
		server.Close()
		_ = f.Close()
	})
	for _, name := range repos {
		if err := f.CreateRepo(t.Context(), name, from); err != nil {
			t.Fatal(err)
		}
	}
	return f, server.URL
}

// tokenFile returns a file in dir with the token of the services. A service that runs may read it:
// it is written whole, or not at all.
func tokenFile(dir string) string {
	file := filepath.Join(dir, "forge.token")
	if err := errors.Join(os.WriteFile(file+".new", []byte(botToken+"\n"), 0o600), os.Rename(file+".new", file)); err != nil {
		panic(err)
	}
	return file
}

// connectForge returns the forge at a URL, as ann sees it.
func connectForge(t *testing.T, url string) *testForge {
	t.Helper()
	ann, err := github.New(github.Config{BaseURL: url + "/api/v3/", Token: annToken})
	if err != nil {
		t.Fatal(err)
	}
	return &testForge{url, ann}
}

// answersRepo returns a repository with a bug and a fast test that finds it.
func answersRepo(t *testing.T) string {
	t.Helper()
	dir := ownDir(t)
	for name, text := range map[string]string{
		".signalbox.yaml": "test: {command: sh check.sh}\n",
		"check.sh":        "grep -qx 42 answer.txt || { echo \"the answer is $(cat answer.txt), want 42\"; exit 1; }\n",
		"answer.txt":      "41\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	g := git.New(dir).WithIdentity("ann", "ann@example.com")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "Answer"}} {
		if _, err := g.Run(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// completeReport is an issue that leaves no question.
const completeReport = `The answer is wrong.

### Steps to reproduce
Run ` + "`cat answer.txt`" + `.

### Expected
It prints 42.

### Actual
It prints 41.

### Scope
The file answer.txt.
`

// vagueReport is an issue that leaves questions.
const vagueReport = "The answer is wrong. Please fix."

// clarification answers the questions about vagueReport.
const clarification = completeReport

// openIssue opens an issue and returns its number.
func (f *testForge) openIssue(t *testing.T, title, body string) int {
	t.Helper()
	issue, err := f.ann.CreateIssue(t.Context(), repo, forge.NewIssue{Title: title, Body: body})
	if err != nil {
		t.Fatal(err)
	}
	return issue.Number
}

// comments returns the marker keys of the bot's comments on an issue, but for that on how
// it stands.
func (f *testForge) comments(t *testing.T, number int) []string {
	t.Helper()
	comments, err := f.ann.Comments(t.Context(), repo, number, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, c := range comments {
		if _, key, ok := rules.FindMarker(c.Body); ok && key != rules.StatusKey && c.Author.Login == "signalbox" {
			keys = append(keys, key)
		}
	}
	return keys
}

// awaitStatus waits until one comment of the bot says how the issue stands, with the text.
func (f *testForge) awaitStatus(t *testing.T, number int, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for poll := time.Tick(50 * time.Millisecond); ; <-poll {
		comments, err := f.ann.Comments(ctx, repo, number, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, c := range comments {
			if _, key, ok := rules.FindMarker(c.Body); ok && key == rules.StatusKey && c.Author.Login == "signalbox" {
				all = append(all, c.Body)
			}
		}
		if len(all) > 1 {
			t.Fatalf("it stands twice: %q", all)
		}
		if len(all) == 1 && strings.Contains(all[0], want) {
			return
		}
	}
}

// pulls returns the numbers of the pull requests for an issue, open or not.
func (f *testForge) pulls(t *testing.T, number int) []int {
	t.Helper()
	var numbers []int
	for page := 1; ; page++ {
		r, err := http.Get(fmt.Sprintf("%s/api/v3/repos/%s/pulls?state=all&per_page=100&page=%d", f.url, repo, page))
		if err != nil {
			t.Fatal(err)
		}
		var all []struct {
			Number int
			Head   struct{ Ref string }
		}
		err = json.NewDecoder(r.Body).Decode(&all)
		_ = r.Body.Close()
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("list pull requests: %s, %v", r.Status, err)
		}
		if len(all) == 0 {
			return numbers
		}
		for _, pr := range all {
			if strings.HasPrefix(pr.Head.Ref+"-", fmt.Sprintf("signalbox/issue-%d-", number)) {
				numbers = append(numbers, pr.Number)
			}
		}
	}
}

// clone clones a branch without a token and returns the text of a file in it.
func (f *testForge) clone(t *testing.T, branch, file string) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := git.New(dir).Run(t.Context(), "clone", "-q", "--branch", branch, f.url+"/"+repo+".git", "."); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
