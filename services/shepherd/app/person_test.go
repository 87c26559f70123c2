package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/git"
	"github.com/signalbox/signalbox/pkg/git/gittest"
)

// person is a person on the forge.
type person struct {
	w     *env
	login string
}

// do sends one REST request of the person and returns the answer.
func (p person) do(method, path string, in any) map[string]any {
	p.w.Helper()
	status, out := p.try(method, path, in)
	if status >= 300 {
		p.w.Fatalf("%s: %s %s %v is answered %d: %v", p.login, method, path, in, status, out)
	}
	return out
}

func (p person) try(method, path string, in any) (int, map[string]any) {
	p.w.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		p.w.Fatal(err)
	}
	r, err := http.NewRequestWithContext(p.w.ctx, method, p.w.forge.URL+"/api/v3/repos/"+widgets+path, bytes.NewReader(body))
	if err != nil {
		p.w.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+forgetest.Token(p.login))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		p.w.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		p.w.Fatal(err)
	}
	var out map[string]any
	_ = json.Unmarshal(data, &out) // lists and nothing stay nil
	return answer.StatusCode, out
}

type object = map[string]any

// review submits a review: APPROVE, REQUEST_CHANGES or COMMENT.
func (p person) review(pull int, event, body string) int64 {
	p.w.Helper()
	out := p.do("POST", fmt.Sprintf("/pulls/%d/reviews", pull), object{"event": event, "body": body})
	return int64(out["id"].(float64))
}

func (p person) approve(pull int) int64 { p.w.Helper(); return p.review(pull, "APPROVE", "") }

func (p person) comment(pull int, body string) {
	p.w.Helper()
	p.do("POST", fmt.Sprintf("/issues/%d/comments", pull), object{"body": body})
}

// onLine comments on a line of the change.
func (p person) onLine(pull int, commit, file, body string) int64 {
	p.w.Helper()
	out := p.do("POST", fmt.Sprintf("/pulls/%d/comments", pull), object{"body": body, "commit_id": commit, "path": file, "line": 1, "side": "RIGHT"})
	return int64(out["id"].(float64))
}

// status reports on a commit as CI does.
func (p person) status(commit, state string) {
	p.w.Helper()
	p.do("POST", "/statuses/"+commit, object{"state": state, "context": "ci"})
}

// check has the App of CI report a check run on a commit.
func (p person) check(commit, name, conclusion string) {
	p.w.Helper()
	p.login = "ci[bot]"
	run := object{"name": name, "head_sha": commit, "status": "in_progress"}
	if conclusion != "" {
		run["status"], run["conclusion"] = "completed", conclusion
	}
	p.do("POST", "/check-runs", run)
}

// pushes commits a file on top of a branch, and returns the commit.
func (p person) pushes(branch, file, text string) string {
	p.w.Helper()
	g := p.clone(branch)
	return p.commits(g, branch, file, text)
}

func (p person) clone(branch string) git.Runner {
	p.w.Helper()
	g := git.New(p.w.TempDir()).WithIdentity(p.login, p.login+"@example.com").WithToken(p.w.forge.URL, forgetest.Token(p.login))
	gittest.Run(p.w.T, g, "clone", "-q", "--branch", branch, p.w.forge.URL+"/"+widgets+".git", ".")
	return g
}

func (p person) commits(g git.Runner, branch, file, text string) string {
	p.w.Helper()
	forgetest.WriteFile(p.w.T, g.Dir(), file, text)
	gittest.Run(p.w.T, g, "add", "-A")
	gittest.Run(p.w.T, g, "commit", "-q", "-m", "Write "+file+" by hand")
	gittest.Run(p.w.T, g, "push", "-q", "origin", "HEAD:refs/heads/"+branch)
	return gittest.Run(p.w.T, g, "rev-parse", "HEAD")
}

// branchHead is where a branch is.
func (p person) branchHead(branch string) string {
	p.w.Helper()
	return gittest.Run(p.w.T, p.clone(branch), "rev-parse", "HEAD")
}

// said are the shepherd's comments on a pull request, oldest first.
func (e *env) said(pull int) (all []string) {
	e.Helper()
	c := e.forge.Client("signalbox")
	comments, err := c.Comments(e.ctx, widgets, pull, time.Time{})
	if err != nil {
		e.Fatal(err)
	}
	for _, one := range comments {
		if one.Author.Login == "signalbox" {
			all = append(all, one.Body)
		}
	}
	return all
}

// path fills a path.
func path(format string, args ...any) string { return fmt.Sprintf(format, args...) }

func text10(n int) string { return strconv.Itoa(n) }

// pushesNew commits a file on a new branch off trunk.
func (p person) pushesNew(branch, file, text string) string {
	p.w.Helper()
	return p.commits(p.clone("trunk"), branch, file, text)
}

// proposes opens a pull request of the person's own.
func (p person) proposes(branch, title string) int {
	p.w.Helper()
	out := p.do("POST", "/pulls", object{"title": title, "head": branch, "base": "trunk", "body": "By hand."})
	return int(out["number"].(float64))
}

// ready ends the draft by hand.
func (p person) ready(pull int) {
	p.w.Helper()
	if err := p.w.forge.Client(p.login).MarkReady(p.w.ctx, widgets, pull); err != nil {
		p.w.Fatal(err)
	}
}

// lines are the comments on lines of a pull request, oldest first.
func (e *env) lines(pull int) []forge.ReviewComment {
	e.Helper()
	c := e.forge.Client("ann")
	all, err := c.ReviewComments(e.ctx, widgets, pull)
	if err != nil {
		e.Fatal(err)
	}
	return all
}
