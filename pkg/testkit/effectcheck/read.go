package effectcheck

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/pkg/git"
)

// Forge is a forge that Read reads over GitHub's REST and git.
type Forge struct {
	URL   string // of the API, such as https://api.github.com/
	Git   string // what a repository's name and .git follow, to clone from
	Token string // of a user who may read everything; "" for none
	Bot   string // the login that effects are made with
}

// Read reads the repositories from the forge, every page of everything.
func Read(ctx context.Context, f Forge, repos ...string) (Observed, error) {
	w := Observed{Bot: f.Bot}
	for _, name := range repos {
		r, err := f.repo(ctx, name)
		if err != nil {
			return w, fmt.Errorf("read %s: %w", name, err)
		}
		w.Repos = append(w.Repos, r)
	}
	return w, nil
}

// user, and the types below, are the parts of GitHub's answers that are read.
type user struct{ Login string }

func (f Forge) repo(ctx context.Context, name string) (Repo, error) {
	r := Repo{Name: name, Branches: map[string]string{}, Parents: map[string][]string{}}
	var about struct {
		Default string `json:"default_branch"`
	}
	err := f.get(ctx, "/repos/"+name, &about)
	r.Default = about.Default
	for _, read := range []func(context.Context, *Repo) error{f.issues, f.comments, f.pulls, f.refs, f.moves, f.commits} {
		if err == nil {
			err = read(ctx, &r)
		}
	}
	return r, err
}

func (f Forge) issues(ctx context.Context, r *Repo) error {
	type row struct {
		Number int
		User   user
		Labels []struct{ Name string }
		Pull   *struct{} `json:"pull_request"`
	}
	rows, err := all[row](ctx, f, "/repos/"+r.Name+"/issues?state=all")
	for _, i := range rows {
		if i.Pull != nil {
			continue
		}
		issue := Issue{Number: i.Number, Author: i.User.Login}
		for _, l := range i.Labels {
			issue.Labels = append(issue.Labels, l.Name)
		}
		r.Issues = append(r.Issues, issue)
	}
	return err
}

// commentRow is a comment in GitHub's answer.
type commentRow struct {
	ID      int64
	Body    string
	User    user
	HTML    string `json:"html_url"`
	Issue   string `json:"issue_url"`
	Pull    string `json:"pull_request_url"`
	ReplyTo int64  `json:"in_reply_to_id"`
}

// comment returns the comment. Its issue number is the last part of its address.
func (m commentRow) comment() Comment {
	at := cmp.Or(m.Issue, m.Pull)
	n, _ := strconv.Atoi(at[strings.LastIndexByte(at, '/')+1:])
	return Comment{ID: m.ID, Number: n, Author: m.User.Login, Body: m.Body, URL: m.HTML}
}

func (f Forge) comments(ctx context.Context, r *Repo) error {
	rows, err := all[commentRow](ctx, f, "/repos/"+r.Name+"/issues/comments")
	for _, m := range rows {
		r.Comments = append(r.Comments, m.comment())
	}
	return err
}

func (f Forge) pulls(ctx context.Context, r *Repo) error {
	type row struct{ Number int }
	rows, err := all[row](ctx, f, "/repos/"+r.Name+"/pulls?state=all&sort=created&direction=asc")
	for _, row := range rows {
		var pr struct {
			Number   int
			User     user
			Body     string
			Head     struct{ Ref, SHA string }
			Merged   bool
			MergedBy *user  `json:"merged_by"`
			MergeSHA string `json:"merge_commit_sha"`
		}
		at := fmt.Sprintf("/repos/%s/pulls/%d", r.Name, row.Number)
		if err := f.get(ctx, at, &pr); err != nil {
			return err
		}
		pull := Pull{Number: pr.Number, Author: pr.User.Login, Body: pr.Body, Head: pr.Head.Ref, SHA: pr.Head.SHA, Merged: pr.Merged}
		if pr.Merged {
			pull.MergeSHA = pr.MergeSHA
		}
		if pr.MergedBy != nil {
			pull.MergedBy = pr.MergedBy.Login
		}
		r.Pulls = append(r.Pulls, pull)
		lines, err := all[commentRow](ctx, f, at+"/comments")
		if err != nil {
			return err
		}
		for _, m := range lines {
			c := m.comment()
			c.Thread = cmp.Or(m.ReplyTo, m.ID)
			r.Replies = append(r.Replies, c)
		}
	}
	return err
}

func (f Forge) refs(ctx context.Context, r *Repo) error {
	type row struct {
		Name   string
		Commit struct{ SHA string }
	}
	rows, err := all[row](ctx, f, "/repos/"+r.Name+"/branches")
	for _, b := range rows {
		r.Branches[b.Name] = b.Commit.SHA
	}
	return err
}

func (f Forge) moves(ctx context.Context, r *Repo) error {
	type row struct {
		Before, After, Ref string
		Kind               string `json:"activity_type"`
		Actor              *user
	}
	rows, err := all[row](ctx, f, "/repos/"+r.Name+"/activity")
	slices.Reverse(rows) // the newest came first
	for _, m := range rows {
		move := Move{Branch: strings.TrimPrefix(m.Ref, "refs/heads/"), Before: m.Before, After: m.After, Kind: m.Kind}
		if m.Actor != nil {
			move.Actor = m.Actor.Login
		}
		r.Moves = append(r.Moves, move)
	}
	return err
}

// commits reads every commit that is reachable from a ref, from a clone.
func (f Forge) commits(ctx context.Context, r *Repo) (err error) {
	dir, err := os.MkdirTemp("", "effectcheck-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	from, err := url.Parse(strings.TrimRight(f.Git, "/") + "/" + r.Name + ".git")
	if err != nil {
		return err
	}
	if f.Token != "" {
		from.User = url.UserPassword("x-access-token", f.Token)
	}
	g := git.New(dir)
	if _, err := g.Run(ctx, "clone", "-q", "--mirror", from.String(), "."); err != nil {
		return err
	}
	out, err := g.Run(ctx, "log", "--all", "--format=%H %P")
	for line := range strings.Lines(out) {
		if words := strings.Fields(line); len(words) > 0 {
			r.Parents[words[0]] = words[1:]
		}
	}
	return err
}

// all reads every page of a list.
func all[T any](ctx context.Context, f Forge, path string) (rows []T, err error) {
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	next := strings.TrimRight(f.URL, "/") + path + sep + "per_page=100"
	for next != "" {
		var some []T
		if next, err = f.page(ctx, next, &some); err != nil {
			return nil, err
		}
		rows = append(rows, some...)
	}
	return rows, nil
}

func (f Forge) get(ctx context.Context, path string, into any) error {
	_, err := f.page(ctx, strings.TrimRight(f.URL, "/")+path, into)
	return err
}

var nextLink = regexp.MustCompile(`<([^>]+)>; rel="next"`)

// page reads one page and returns the address of the next, "" after the last.
func (f Forge) page(ctx context.Context, at string, into any) (next string, err error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return "", err
	}
	if f.Token != "" {
		q.Header.Set("Authorization", "Bearer "+f.Token)
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s answers %s", at, r.Status)
	}
	if m := nextLink.FindStringSubmatch(r.Header.Get("Link")); m != nil {
		next = m[1]
	}
	return next, json.NewDecoder(r.Body).Decode(into)
}
