package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/command"
	"github.com/signalbox/signalbox/pkg/forge/github"
)

// told is a forge that says when a repository has changed last.
type told struct {
	changed time.Time
	err     error
	asked   int
}

func (f *told) LastChanged(_ context.Context, repos []string) (map[string]time.Time, error) {
	f.asked++
	return map[string]time.Time{repos[0]: f.changed}, f.err
}

// countedPolls counts polls.
type countedPolls struct {
	n   int
	err error
}

func (p *countedPolls) poll(context.Context) error { p.n++; return p.err }

func (p *countedPolls) about() (string, *slog.Logger) { return widgets, slog.New(slog.DiscardHandler) }

func TestARepositoryIsPolledOnlyAfterItHasChanged(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	on, lists := &told{changed: now}, &countedPolls{}
	of := &news{forge: on, repos: func() []string { return []string{widgets} }, fresh: 5 * time.Minute, now: func() time.Time { return now }, log: slog.New(slog.DiscardHandler)}
	s := &sparing{source: lists, news: of, repo: widgets}
	for i, step := range []struct {
		what    string
		after   time.Duration
		changes bool
		asking  error
		listing error
		polls   int
	}{
		{what: "at the start", polls: 1},
		{what: "within the round", after: time.Minute, polls: 1},
		{what: "once more, for what is shown late", after: 10 * time.Minute, polls: 1},
		{what: "quiet", after: 10 * time.Minute},
		{what: "quiet still", after: 10 * time.Minute},
		{what: "changed, and not readable", after: 10 * time.Minute, changes: true, listing: errors.New("broken"), polls: 1},
		{what: "readable again", after: 10 * time.Minute, polls: 1},
		{what: "and once more", after: 10 * time.Minute, polls: 1},
		{what: "quiet again", after: 10 * time.Minute},
		{what: "the forge does not say", after: 10 * time.Minute, asking: errors.New("no GraphQL"), polls: 1},
		{what: "it says again", after: 10 * time.Minute, polls: 1},
		{what: "and is quiet", after: 10 * time.Minute},
	} {
		now = now.Add(step.after)
		if step.changes {
			on.changed = now
		}
		before := lists.n
		on.err, lists.err = step.asking, step.listing
		if err := s.poll(t.Context()); !errors.Is(err, step.listing) {
			t.Errorf("%s: %v", step.what, err)
		}
		if n := lists.n - before; n != step.polls {
			t.Errorf("%d, %s: %d polls, want %d", i, step.what, n, step.polls)
		}
	}
	if on.asked != 11 {
		t.Errorf("the forge was asked %d times, want once a round", on.asked)
	}
}

// costs returns what became of the requests of a client, by result.
func costs(t *testing.T, c *github.Client) map[string]int {
	t.Helper()
	r := prometheus.NewRegistry()
	if err := c.Register(r); err != nil {
		t.Fatal(err)
	}
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]int{}
	for _, family := range all {
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				if family.GetName() == "signalbox_forge_requests_total" && l.GetName() == "result" {
					by[l.GetValue()] += int(m.GetCounter().GetValue())
				}
			}
		}
	}
	return by
}

// An hour of a deployment in which nothing happens: 20 repositories, that a pattern names,
// and 100 open issues. The hour is simulated: the clocks of forge and gateway are set, and each round is polled.
func TestAnIdleDeploymentCostsLittle(t *testing.T) {
	w := newEnvOn(t, natstest.Start(t, natstest.Options{}), 5*time.Minute)
	var repos []string
	for i := range 20 {
		repo := fmt.Sprintf("acme/part-%d", i)
		repos = append(repos, repo)
		if err := w.forge.CreateRepo(w.ctx, repo, ""); err != nil {
			t.Fatal(err)
		}
		for n := range 5 {
			if _, err := w.ann.CreateIssue(w.ctx, repo, forge.NewIssue{Title: fmt.Sprint("It breaks ", n)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	began := time.Now()
	now := func() time.Time { return began.Add(time.Duration(w.second.Load()) * time.Second) }
	for _, c := range []struct {
		name                   string
		webhooks               bool
		every                  time.Duration
		rounds                 int // that are polled, of an hour
		mostRequests, mostPaid int // an hour
	}{
		{"with webhooks", true, Told, 6, 60, 60},
		{"without webhooks", false, Asked, 6, 0, 1500},
	} {
		t.Run(c.name, func(t *testing.T) {
			on := w.forge.Client("signalbox")
			all := client.New(w.server.Connect(t), "gateway")
			set := w.watchedBy(on, slog.New(slog.DiscardHandler), "acme/part-*")
			set.now, set.every = now, max(c.every, listedEvery)
			of := &news{forge: on, repos: set.names, fresh: c.every / 2, now: now, log: slog.New(slog.DiscardHandler)}
			var sources []source
			set.build = func(repo string) (repository, []source) {
				p := w.poller(func(p *poller) { p.reader, p.client, p.repo = on, all, repo })
				p.permissions.now = now
				closed := &closings{forge: on, client: all, cursors: p.cursors, repo: repo, now: now, log: p.log}
				pulls := &pulls{forge: on, client: all, cursors: p.cursors, repo: repo, now: now, log: p.log, permissions: p.permissions}
				g, err := command.NewGrammar("signalbox", nil)
				if err != nil {
					t.Fatal(err)
				}
				obeys := &commander{forge: on, client: all, cursors: p.cursors, repo: repo, grammar: g, issues: p, pulls: pulls, now: now, log: p.log}
				for _, s := range []source{p, closed, pulls, obeys} {
					if c.webhooks {
						s = &sparing{source: s, news: of, repo: repo}
					}
					sources = append(sources, s)
				}
				return repository{}, nil
			}
			var read time.Time
			round := func(after time.Duration) {
				t.Helper()
				w.second.Add(int64(after / time.Second))
				if now().Sub(read) >= set.every {
					if err := set.poll(w.ctx); err != nil {
						t.Fatal(err)
					}
					read = now()
				}
				for _, s := range sources {
					if err := s.poll(w.ctx); err != nil {
						t.Fatal(err)
					}
				}
			}
			round(0)
			if got := set.names(); len(got) != len(repos) {
				t.Fatalf("%q are watched", got)
			}
			start := costs(t, on)
			round(overlap + 30*time.Second)
			settled := costs(t, on)
			for range c.rounds {
				round(c.every)
			}
			idle := costs(t, on)
			anHour := int(time.Hour / c.every)
			paid := (idle["counted"] - settled["counted"]) * anHour / c.rounds
			free := (idle["unchanged"] - settled["unchanged"]) * anHour / c.rounds
			t.Logf("20 repositories, 100 issues, every %s: %d counted at the start, %d until all is settled; then an hour has %d counted requests and %d unchanged (%d rounds polled)",
				c.every, start["counted"], settled["counted"], paid, free, c.rounds)
			if paid > c.mostPaid || c.mostRequests > 0 && paid+free > c.mostRequests {
				t.Errorf("an idle hour costs %d requests, %d of them counted", paid+free, paid)
			}
			if c.webhooks {
				if _, err := w.ann.Comment(w.ctx, repos[7], 3, "it still breaks"); err != nil {
					t.Fatal(err)
				}
				round(c.every)
				if got := w.heardOf(repos[7], 3); len(got) != 1 {
					t.Errorf("a comment of which no webhook told: %q", got)
				}
			}
		})
	}
}
