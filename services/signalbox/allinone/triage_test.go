package allinone_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/agent/triage"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/git/gittest"
	"github.com/signalbox/signalbox/pkg/service"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
)

func TestTriageNamesADuplicateAndSetsTheLabelsOfTheRepository(t *testing.T) {
	dir, g := t.TempDir(), gittest.Repo(t)
	write(t, filepath.Join(g.Dir(), ".signalbox.yaml"), "test: {command: 'true'}\n")
	gittest.Run(t, g, "checkout", "-q", "-b", "trunk")
	gittest.Run(t, g, "add", "-A")
	gittest.Run(t, g, "commit", "-q", "-m", "first")
	configured := gittest.Repo(t)
	if err := os.Mkdir(filepath.Join(configured.Dir(), ".signalbox"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(configured.Dir(), ".signalbox", "config.yaml"), "labels: {bug: 'type: bug', duplicate: maybe duplicate}\n")
	gittest.Run(t, configured, "checkout", "-q", "-b", "trunk")
	gittest.Run(t, configured, "add", "-A", "-f")
	gittest.Run(t, configured, "commit", "-q", "-m", "first")
	var log bytes.Buffer
	err := allinone.Run(t.Context(), allinone.Config{
		Dir: filepath.Join(dir, "data"), Sync: 100 * time.Millisecond, Listen: "127.0.0.1:0", Workflow: "issue", Every: time.Second,
		Log:   slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Flags: service.Flags{Grace: 20 * time.Second}, Agents: role.Settings{Sandbox: "none", Workers: 1, Wall: time.Minute, Idle: time.Minute},
		Repos: map[string]allinone.Source{widgets: {Dir: configured.Dir()}, "acme/plain": {Dir: g.Dir()}}, Login: "ann",
		Main: func(ctx context.Context, s *allinone.System) error {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			e := &env{t, ctx, s, client.New(s.NATS, "operator:ann"), dir}
			ann, err := github.Flags{URL: s.Forge.URL + "/api/v3/", Token: s.Forge.Secret}.Client()
			if err != nil {
				return err
			}
			for _, c := range []struct {
				repo, title      string
				kind, duplicates string
				labels           []string
			}{
				{widgets, "Crash when saving an empty profile", triage.Bug, "", []string{"type: bug"}},
				{widgets, "Saving empty profiles crashes", triage.Bug, "acme/widgets/1", []string{"maybe duplicate", "type: bug"}},
				{"acme/plain", "Crash when saving an empty profile", triage.Bug, "", nil},
			} {
				made, err := ann.CreateIssue(ctx, c.repo, forge.NewIssue{Title: c.title, Body: "See above."})
				if err != nil {
					return err
				}
				id := c.repo + "/" + map[int]string{1: "1", 2: "2"}[made.Number]
				in := e.noted(id)
				var f triage.Finding
				for _, n := range in.GetNotes() {
					if n.GetKind() == triage.Note {
						f = triage.Parse(n.GetText())
					}
				}
				var names []string
				for _, m := range f.Duplicates {
					names = append(names, m.Instance)
				}
				if f.Kind != c.kind || strings.Join(names, " ") != c.duplicates {
					t.Errorf("of %s it is noted %+v", id, f)
				}
				issue, err := ann.Issue(ctx, c.repo, made.Number)
				if err != nil {
					return err
				}
				slices.Sort(issue.Labels)
				if !slices.Equal(issue.Labels, c.labels) {
					t.Errorf("%s has the labels %q, want %q", id, issue.Labels, c.labels)
				}
				text, _ := e.call("explain", id)
				if !strings.Contains(text, "bug: its title has") || c.duplicates != "" && !strings.Contains(text, c.duplicates+": the titles share 4 of 4 words") {
					t.Errorf("explain prints\n%s", text)
				}
			}
			return nil
		},
	})
	if err != nil || t.Failed() {
		t.Errorf("the system ended with %v\n%s", err, log.String())
	}
}

// noted waits until an instance has a finding of triage. It may not be opened yet.
func (e *env) noted(id string) (in *pb.Instance) {
	e.Helper()
	err := e.client.Watch(e.ctx, "", 0, func(entry client.LogEntry) (err error) {
		if entry.Instance != id {
			return nil
		}
		if in, err = e.client.Get(e.ctx, id); err != nil {
			return err
		}
		if slices.ContainsFunc(in.GetNotes(), func(n *pb.Remark) bool { return n.GetKind() == triage.Note }) {
			return client.ErrStopWatch
		}
		return nil
	})
	if err != nil {
		e.Errorf("%s has no finding: %v", id, err)
	}
	return in
}
