// Package app is the gateway: it polls repositories on the forge and turns what people do
// there into commands and signals.
package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/agent/host"
	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/base/pacing"
	"github.com/signalbox/signalbox/pkg/engine/client"
	store "github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/forge/github"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
)

// App is the gateway's flags.
type App struct {
	service.Flags
	Settings
}

// Settings are the gateway's flags in addition to the common ones.
type Settings struct {
	Forge    github.Flags `embed:"" prefix:"forge-"`
	Repo     []string     `name:"repo" placeholder:"OWNER/NAME" required:"" help:"Repository to watch: OWNER/NAME, a pattern such as acme/web-*, or installed: all that the App is installed on; !OWNER/NAME leaves out. May be repeated."`
	Workflow string       `name:"workflow" default:"issue" help:"Lifecycle that new issues open with."`
	// Lifecycles are those that a repository may choose for its issues in addition to Workflow.
	Lifecycles []string `name:"repo-workflow" placeholder:"NAME" help:"Lifecycle that the configuration of a repository may choose for its new issues, in addition to --workflow; * permits all. May be repeated."`
	Label      string   `name:"label" help:"Take up only issues with this label; empty: all that are reported from now on."`
	All        bool     `name:"all" help:"Take up the issues, too, that were open before the repository was first watched. Without it they need a label."`
	Intake
	Commands
	Every time.Duration `name:"every" placeholder:"DURATION" help:"How often the forge is asked for changes. Default: 10s, with --webhook 10m."`
	Webhook
	Replicas int `name:"replicas" default:"1" help:"Copies, in a NATS cluster, of how far it has read."`
}

// Main is the service, for a program that serves it.
func Main() service.Main {
	return service.Main{Name: "gateway", About: "Watches repositories on the forge and passes on what people do there.", Program: &App{}}
}

// Setup implements service.Program. It refuses a wrong token or repository.
func (a *App) Setup(ctx context.Context, h *service.Host) error {
	if err := forgeside.Reach(ctx, h, &a.Forge, a.Repo); err != nil {
		return err
	}
	return a.Settings.Setup(ctx, h)
}

// Setup adds the gateway to a host.
func (s Settings) Setup(ctx context.Context, h *service.Host) error {
	adapter, err := s.Forge.Client()
	if err != nil {
		return err
	}
	if err := forgeside.Repositories(s.Repo).Permitted(adapter); err != nil {
		return service.Usagef("%w", err)
	}
	if err := adapter.Register(h.Metrics); err != nil {
		return err
	}
	h.Health.Warn("forge", func(context.Context) error { return adapter.Fault() })
	token, err := s.Forge.Secret()
	if err != nil {
		return err
	}
	secrets, err := host.Secrets(h, token)
	if err != nil {
		return err
	}
	gate := forgeside.Gate{Repos: s.Repo, Log: h.Log, Refused: forgeside.NewRefused(h.Metrics, "gateway")}
	host := forgeside.NewForge(adapter, outbound.New(outbound.DefaultRules(), secrets), gate.Repos,
		func(kind string, err error) { gate.Refuse(kind, err) })
	js, err := access.JetStreamAs(ctx, h.NATS, access.Party{Kind: access.Gateway})
	if err != nil {
		return err
	}
	// An issue refused for a misspelt workflow would be passed over.
	if _, err := client.New(h.NATS, "gateway").Definition(ctx, s.Workflow); errors.As(err, new(*instance.Refusal)) {
		return service.Usagef("--workflow: %w", err)
	} else if err != nil {
		return err
	}
	kv, err := js.KeyValue(ctx, store.CursorBucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) { // the orchestrator is older
		kv, err = store.EnsureCursors(ctx, js, s.Replicas)
	}
	if err != nil {
		return fmt.Errorf("bucket of cursors: %w", err)
	}
	polls := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "signalbox_gateway_polls_total",
		Help: "Polls of the forge by repository and result."}, []string{"repo", "result"})
	h.Metrics.MustRegister(polls)
	grammar, err := s.Grammar()
	if err != nil {
		return service.Usagef("--command, --who-may: %w", err)
	}
	refused, given := newRefused(h.Metrics), newGiven(h.Metrics)
	every := s.every()
	all := &watched{forge: adapter, fault: adapter.Fault, list: s.Repo, client: client.New(h.NATS, "gateway"), kv: kv, every: max(every, listedEvery), now: time.Now,
		log: h.Log, count: newCount(h.Metrics), asked: make(chan struct{}, 1)}
	heard := &deliveries{js: js, watched: all, handled: newHandled(h.Metrics), log: h.Log}
	quiet := &news{forge: adapter, repos: all.names, fresh: every / 2, now: time.Now, log: h.Log}
	// Without webhooks the lists are read often, and nearly all are unchanged, which is free.
	spare := func(p source, repo string) source {
		if s.Webhook.Addr == "" {
			return p
		}
		return &sparing{source: p, news: quiet, repo: repo}
	}
	all.run = func(ctx context.Context, p source) { _ = watch(ctx, asking{p, all.ask}, every, polls) } // ends with ctx, without an error
	all.build = func(repo string) (repository, []source) {
		given0(given, repo, grammar.All())
		p := &poller{reader: host, client: client.New(h.NATS, "gateway"), cursors: cursors{kv}, repo: repo, workflow: s.Workflow,
			label: s.Label, all: s.All, intake: s.Intake, grammar: grammar, refused: refused, log: h.Log.With("repo", repo)}
		p.configs = &configurations{forge: host, checks: host, client: p.client, kv: kv, repo: repo, workflow: s.Workflow, lifecycles: s.Lifecycles,
			now: time.Now, log: p.log}
		say := func(ctx context.Context, r forgeside.CommentRequest) error {
			return forgeside.RequestComment(ctx, h.NATS, r)
		}
		p.wrong, p.say = &tellings{p.configs, say}, say
		p.permissions = &permissions{forge: host, repo: repo, now: time.Now}
		pr := &pulls{forge: host, client: p.client, cursors: p.cursors, repo: repo, now: time.Now, log: p.log, hear: s.Hear,
			grammar: grammar, permissions: p.permissions, refused: refused}
		closed := &closings{forge: host, client: p.client, cursors: p.cursors, repo: repo, now: time.Now, log: p.log}
		obeys := &commander{forge: host, client: p.client, cursors: p.cursors, repo: repo, grammar: grammar, issues: p, pulls: pr,
			say: say, given: given, now: time.Now, log: p.log}
		sources := []source{spare(p, repo), spare(closed, repo), spare(pr, repo), p.wrong, &waits{poller: p}}
		if grammar.Name != "" {
			sources = append(sources, spare(obeys, repo))
		}
		return repository{p, closed, pr, obeys}, sources
	}
	h.Add("repositories", all.work)
	h.AddBaseOnce("majority", func(ctx context.Context) error {
		return store.StayWithMajority(ctx, js, store.MajorityEvery, store.MajorityOf(subject.DeliveryStream))
	})
	h.Add("reports", func(ctx context.Context) error { return reports(ctx, h, heard) })
	if s.Webhook.Addr != "" && adapter.WorksAsApp() {
		again := &missed{forge: adapter, between: between, now: time.Now, asked: map[string]time.Time{}, log: h.Log}
		h.Add("missed deliveries", func(ctx context.Context) error { return watch(ctx, again, every, polls) })
	}
	return s.addWebhook(h, js, heard)
}

// newCount returns the number of repositories, by what is done in them.
func newCount(r prometheus.Registerer) *prometheus.GaugeVec {
	c := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "signalbox_gateway_repositories",
		Help: "Repositories by state: watched, or away because they were removed or archived."}, []string{"state"})
	r.MustRegister(c)
	for _, state := range []string{"watched", "away"} {
		c.WithLabelValues(state)
	}
	return c
}

// The defaults of --every, without and with webhooks.
const (
	Asked = 10 * time.Second
	Told  = 10 * time.Minute
)

// every returns how often the forge is asked for changes.
func (s Settings) every() time.Duration {
	switch {
	case s.Every > 0:
		return s.Every
	case s.Webhook.Addr != "":
		return Told
	}
	return Asked
}

// addWebhook adds the server that webhooks deliver to, and what handles the deliveries.
func (s Settings) addWebhook(h *service.Host, js jetstream.JetStream, of *deliveries) error {
	if s.Webhook.Addr == "" {
		return nil
	}
	if s.Webhook.Secret == "" && s.SecretFile == "" {
		s.SecretFile = s.Forge.WebhookSecretFile()
	}
	l, server, err := s.Webhook.listenWebhook(h, js, newTaken(h.Metrics))
	if err != nil {
		return err
	}
	h.Log.Info("takes deliveries of webhooks", "address", l.Addr().String())
	h.Add("webhook", func(ctx context.Context) error { return serveWebhook(ctx, l, server) })
	h.Add("deliveries", of.consume)
	return nil
}

// source is a part of the forge that is polled.
type source interface {
	poll(ctx context.Context) error
	about() (repo string, log *slog.Logger)
}

// watch polls until ctx ends. It logs errors and polls less often after them. It does not
// poll before a rate limit ends.
func watch(ctx context.Context, p source, every time.Duration, polls *prometheus.CounterVec) error {
	repo, log := p.about()
	for _, result := range []string{"ok", "error"} { // so that an alert sees the first of each
		polls.WithLabelValues(repo, result)
	}
	slow := pacing.Backoff(every, max(10*every, time.Minute))
	for {
		wait := every
		if err := p.poll(forge.WithUrgency(ctx, forge.Background)); err == nil {
			polls.WithLabelValues(repo, "ok").Inc()
			slow.Reset()
		} else if ctx.Err() == nil {
			polls.WithLabelValues(repo, "error").Inc()
			wait = max(every, slow.NextBackOff())
			if limit := new(forge.RateLimit); errors.As(err, &limit) {
				wait = max(wait, time.Until(limit.Until))
			}
			log.Warn("poll failed", "error", err, "again_in", wait.Round(time.Millisecond))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// answer is the answer to sb.forge.issue.open.
type answer struct {
	Instance string         `json:"instance"`
	Issue    instance.Issue `json:"issue"`
}

// reports answers sb.forge.issue.open, sb.forge.configuration and sb.forge.delivery.replay
// until ctx ends.
func reports(ctx context.Context, h *service.Host, heard *deliveries) error {
	svc, err := micro.AddService(h.NATS, micro.Config{Name: "signalbox-gateway", Version: "1.0.0", Description: "reports for the forge"})
	if err != nil {
		return err
	}
	err = svc.AddEndpoint("open", micro.HandlerFunc(func(m micro.Request) {
		var r request
		if err := json.Unmarshal(m.Data(), &r); err != nil {
			_ = m.Error("400", "not a report: "+err.Error(), nil)
			return
		}
		if all := heard.watched.names(); len(all) == 1 && r.Repo == "" {
			r.Repo = all[0]
		}
		of, ok := heard.watched.lookUp(r.Repo)
		if !ok || r.Title == "" {
			_ = m.Error("400", fmt.Sprintf("a report names a watched repository (it names %q) and has a title", cmp.Or(r.Repo, "none")), nil)
			return
		}
		issue, name, err := of.issues.create(ctx, r)
		if no := new(outbound.Refusal); errors.As(err, &no) {
			_ = m.Error("400", no.Error(), nil)
			return
		}
		if err != nil {
			_ = m.Error("502", err.Error(), nil)
			return
		}
		_ = m.RespondJSON(answer{name, issue})
	}), micro.WithEndpointSubject(subject.OpenIssue))
	if err == nil {
		err = svc.AddEndpoint("configuration", micro.HandlerFunc(func(m micro.Request) { heard.watched.configuration(ctx, m) }),
			micro.WithEndpointSubject(subject.Configuration))
	}
	if err == nil {
		err = svc.AddEndpoint("replay", micro.HandlerFunc(heard.replay), micro.WithEndpointSubject(subject.ReplayDelivery))
	}
	if err != nil {
		return err
	}
	<-ctx.Done()
	return svc.Stop()
}
