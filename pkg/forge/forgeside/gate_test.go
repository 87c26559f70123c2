package forgeside_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/signalbox/signalbox/pkg/agent"
	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/base/secret/secrettest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/forgetest"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/localforge"
)

func TestAListOfRepositoriesHasNamesAndPatterns(t *testing.T) {
	for _, c := range []struct {
		list   forgeside.Repositories
		repo   string
		served bool
	}{
		{nil, "acme/widgets", false},
		{forgeside.Repositories{"acme/widgets"}, "acme/widgets", true},
		{forgeside.Repositories{"acme/widgets"}, "Acme/Widgets", true},
		{forgeside.Repositories{"acme/widgets"}, "acme/widgets-secret", false},
		{forgeside.Repositories{"acme/*"}, "acme/secret", true},
		{forgeside.Repositories{"acme/*"}, "acme/a/b", false},
		{forgeside.Repositories{"acme/*"}, "other/acme", false},
		{forgeside.Repositories{"x/y", "*/*"}, "other/acme", true},
		{forgeside.Repositories{"*/*"}, "", false},
		{forgeside.Repositories{"*/*"}, "acme/../etc", false},
	} {
		if err := c.list.Check(c.repo); (err == nil) != c.served || err != nil && !errors.Is(err, forgeside.ErrRepository) {
			t.Errorf("%q of %q: %v", c.repo, c.list, err)
		}
	}
	for _, bad := range []string{"acme", "", "/x", "a/", "a/b/c", "a/[b"} {
		if (forgeside.Repositories{bad}).Validate() == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// What is refused is counted by its rule, and logged in a line that a person can read.
func TestARefusalIsCountedAndLogged(t *testing.T) {
	f := forgetest.Start(t, forgetest.Config{Users: []localforge.User{forgetest.Bot()}})
	var log bytes.Buffer
	registry := prometheus.NewRegistry()
	gate := forgeside.Gate{
		Repos: forgeside.Repositories{forgetest.Repo}, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Refused: forgeside.NewRefused(registry, "pm"),
	}
	secrets, err := secret.New()
	if err != nil {
		t.Fatal(err)
	}
	on := forgeside.NewForge(f.Client("signalbox"), outbound.New(outbound.DefaultRules(), secrets), gate.Repos,
		func(kind string, err error) { gate.Refuse(kind, err) })
	token := "ghp_" + secrettest.Chars(36, secrettest.Alnum)
	ctx, no := t.Context(), new(outbound.Refusal)
	for name, err := range map[string]error{
		"a comment": func() error { _, err := on.Comment(ctx, forgetest.Repo, 1, "@ann"); return err }(),
		"an edit":   func() error { _, err := on.EditComment(ctx, forgetest.Repo, 1, "@ann"); return err }(),
		"a reply":   func() error { _, err := on.Reply(ctx, forgetest.Repo, 1, 1, "@ann"); return err }(),
		"a label":   on.AddLabels(ctx, forgetest.Repo, 1, []string{"@ann"}),
		"an issue": func() error {
			_, err := on.CreateIssue(ctx, forgetest.Repo, forge.NewIssue{Title: "x", Body: "@ann"})
			return err
		}(),
		"a pull request": func() error {
			_, err := on.CreatePullRequest(ctx, forgetest.Repo, forge.NewPullRequest{Body: "Closes #2", Closes: 1})
			return err
		}(),
		"a merge": func() error {
			_, err := on.Merge(ctx, forgetest.Repo, 1, forge.Merge{Title: "x", Body: token})
			return err
		}(),
	} {
		if !errors.As(err, &no) {
			t.Errorf("%s ended with %v", name, err)
		}
	}
	if _, err := on.Comment(ctx, "acme/secret", 1, "fine"); !errors.Is(err, forgeside.ErrRepository) {
		t.Errorf("another repository: %v", err)
	}
	job := agent.Job{Assignment: brain.Assignment{Instance: "acme/secret/1", Role: "pm", Issue: instance.Issue{Repo: "acme/secret"}}}
	_, err = gate.Work(ctx, job, func(context.Context, agent.Job) (instance.Result, error) {
		t.Error("the work was done")
		return instance.Result{}, nil
	})
	if !errors.As(err, new(*agent.ErrEscalate)) {
		t.Errorf("work on another repository ended with %v", err)
	}
	want := `
# HELP signalbox_outbound_refused_total Texts not sent to the forge, by kind and by the rule that they break.
# TYPE signalbox_outbound_refused_total counter
signalbox_outbound_refused_total{kind="comment",role="pm",rule="mention"} 2
signalbox_outbound_refused_total{kind="comment",role="pm",rule="repository"} 1
signalbox_outbound_refused_total{kind="issue",role="pm",rule="mention"} 1
signalbox_outbound_refused_total{kind="label",role="pm",rule="mention"} 1
signalbox_outbound_refused_total{kind="merge",role="pm",rule="secret"} 1
signalbox_outbound_refused_total{kind="pull request",role="pm",rule="closes"} 1
signalbox_outbound_refused_total{kind="reply",role="pm",rule="mention"} 1
signalbox_outbound_refused_total{kind="work",role="pm",rule="repository"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "refused to send it to the forge"); n != 9 || !strings.Contains(log.String(), "acme/secret") {
		t.Errorf("%d lines: %s", n, log.String())
	}
}

func TestGitHasTheTokenThatTheFileContainsNow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	c, err := github.Flags{TokenFile: file}.Client()
	if err != nil {
		t.Fatal(err)
	}
	gate := forgeside.Gate{Token: c.Token}
	for _, token := range []string{"of the first hour", "of the second hour"} {
		if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := gate.Remote(t.Context(), forge.Repository{Name: "acme/widgets", CloneURL: "https://forge.example/acme/widgets"}).Token; got != token {
			t.Errorf("git has the token %q, want that %s", got, token)
		}
	}
}
