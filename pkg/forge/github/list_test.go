package github_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/localforge"
)

// names are the names of a list, with what is archived marked.
func names(all []forge.Listed) string {
	var said []string
	for _, one := range all {
		if one.Archived {
			one.Name += " (archived)"
		}
		said = append(said, one.Name)
	}
	slices.Sort(said)
	return strings.Join(said, ", ")
}

func TestAnAppListsWhatEachOfItsInstallationsIsOn(t *testing.T) {
	key, text := newKey(t)
	app := localforge.App{ID: 7, Slug: "signalbox", Key: &key.PublicKey, Permission: "write", Installations: []localforge.Installation{
		{ID: 70, Owner: "acme"}, {ID: 71, Owner: "other", Repos: []string{"other/things"}}, {ID: 72, Owner: "late", Suspended: true},
	}}
	f := startWithApp(t, key, func(a *localforge.App) { *a = app })
	for _, name := range []string{"other/private", "late/one", "acme/tools"} {
		must(t, f.CreateRepo(t.Context(), name, ""))
	}
	must(t, f.ArchiveRepo("acme/tools", true))
	client := func(only int64) *github.Client {
		c, err := github.New(github.Config{BaseURL: f.URL, App: github.App{ID: 7, Key: text, Installation: only}})
		must(t, err)
		return c
	}
	c := client(0)
	for _, step := range []struct {
		what, want string
		change     func()
	}{
		{"at first", "acme/tools (archived), acme/widgets, other/things", func() {}},
		{"after one was added", "acme/tools (archived), acme/widgets, other/private, other/things", func() { app.Installations[1].Repos = nil }},
		{"after one was suspended", "acme/tools (archived), acme/widgets", func() { app.Installations[1].Suspended = true }},
		{"after one was removed and installed again", "other/private, other/things", func() { app.Installations = []localforge.Installation{{ID: 73, Owner: "other"}} }},
	} {
		app.Installations = slices.Clone(app.Installations)
		step.change()
		must(t, f.PutApp(app))
		all, err := c.InstalledOn(t.Context())
		if err != nil || names(all) != step.want {
			t.Errorf("%s: %s, %v, want %s", step.what, names(all), err, step.want)
		}
	}
	if all, err := client(73).InstalledOn(t.Context()); err != nil || names(all) != "other/private, other/things" {
		t.Errorf("of one installation: %s, %v", names(all), err)
	}
	if _, err := c.Named(t.Context(), "acme/widgets"); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("where it is not installed any more: %v", err)
	}
	if _, err := f.Client("ann").InstalledOn(t.Context()); !errors.Is(err, github.ErrNoApp) {
		t.Errorf("with a token: %v", err)
	}
}

func TestATokenListsWhatItMayWriteToOfAnOwner(t *testing.T) {
	f := forgetest.Start(t, forgetest.Config{Users: []localforge.User{
		forgetest.User("ann", "admin"),
		{Login: "rob", Token: forgetest.Token("rob"), Permissions: map[string]string{forgetest.Repo: "write", "acme/b": "read", "rob/own": "admin"}},
	}, Forge: func(c *localforge.Config) { c.Public = false }})
	for _, name := range []string{"acme/b", "acme/c", "rob/own"} {
		must(t, f.CreateRepo(t.Context(), name, ""))
	}
	for i := range 120 {
		must(t, f.CreateRepo(t.Context(), fmt.Sprintf("many/part-%d", i), ""))
	}
	rob, ann := f.Client("rob"), f.Client("ann")
	if all, err := rob.OwnedBy(t.Context(), "ACME"); err != nil || names(all) != "acme/widgets" {
		t.Errorf("of acme: %s, %v", names(all), err)
	}
	if all, err := rob.OwnedBy(t.Context(), "rob"); err != nil || names(all) != "rob/own" {
		t.Errorf("of rob: %s, %v", names(all), err)
	}
	if all, err := ann.OwnedBy(t.Context(), "many"); err != nil || len(all) != 120 {
		t.Errorf("there are %d, %v", len(all), err)
	}
	if _, err := rob.OwnedBy(t.Context(), "nobody"); !errors.Is(err, forge.ErrNotFound) {
		t.Errorf("of nobody: %v", err)
	}
}

// What was named before a repository was renamed goes on by that name.
func TestARepositoryIsReachedByTheNameThatItHadBefore(t *testing.T) {
	w := newEnv(t)
	ctx, ada, rob := t.Context(), w.client(t, "ada-token"), w.client(t, "rob-token")
	before, err := rob.Named(ctx, repo)
	must(t, err)
	issue, err := ada.CreateIssue(ctx, repo, forge.NewIssue{Title: "x"})
	must(t, err)
	w.patch(t, "acme/widgets", `{"name":"gadgets"}`)
	after, err := rob.Named(ctx, repo)
	if err != nil || after != (forge.Listed{ID: before.ID, Name: "acme/gadgets"}) {
		t.Errorf("it is %+v, %v; it was %+v", after, err, before)
	}
	if all, err := rob.Issues(ctx, repo, issue.CreatedAt); err != nil || len(all) != 1 {
		t.Errorf("issues: %v, %v", all, err)
	}
	if c, err := rob.Comment(ctx, repo, issue.Number, "hello"); err != nil || c.Body != "hello" {
		t.Errorf("comment: %+v, %v", c, err)
	}
	made, err := rob.CreatePullRequest(ctx, repo, forge.NewPullRequest{Title: "Fix", Body: fmt.Sprintf("Closes #%d", issue.Number), Head: "fix/it", Base: "main"})
	if err != nil || made.HeadRepo != repo {
		t.Fatalf("pull request %+v, %v", made, err)
	}
	if found, err := rob.PullRequestByHead(ctx, repo, "fix/it"); err != nil || found.Number != made.Number {
		t.Errorf("found %+v, %v", found, err)
	}
	if all, err := rob.Mentions(ctx, repo, issue.Number); err != nil || len(all) != 1 {
		t.Errorf("mentions %+v, %v", all, err)
	}
	if at, err := rob.LastChanged(ctx, []string{repo}); err != nil || at[repo].IsZero() {
		t.Errorf("changed %v, %v", at, err)
	}
	w.patch(t, "acme/gadgets", `{"archived":true}`)
	if all, err := rob.OwnedBy(ctx, "acme"); err != nil || names(all) != "acme/gadgets (archived)" {
		t.Errorf("listed %s, %v", names(all), err)
	}
	if _, err := rob.Comment(ctx, repo, issue.Number, "again"); !errors.Is(err, forge.ErrDenied) || !strings.Contains(err.Error(), "archived") {
		t.Errorf("a comment in an archived one: %v", err)
	}
}
