// Package app notifies people of what waits for them, and of ends, without their looking. It
// reads the log by a durable consumer and delivers each matter to the targets that want it.
//
//	log ── commit ──▶ facts ──▶ notification ──▶ targets: webhooks, chats
//
// Targets are the operator's: a repository chooses none, and no log has their addresses.
package app

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/signalbox/signalbox/pkg/base/secret"
	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
)

// App is the service's flags.
type App struct {
	service.Flags
	Settings
}

// Settings configures the service, in addition to the common flags.
type Settings struct {
	Targets string        `name:"notify" required:"" type:"existingfile" placeholder:"FILE" help:"YAML file of targets: names with a webhook or a chat, and the events that each gets."`
	Console string        `name:"console-url" placeholder:"URL" help:"Where people reach the console: notifications have a link to the instance there."`
	Retry   time.Duration `name:"retry" default:"5s" help:"Pause before a delivery that failed is tried again. It doubles, up to 10m."`
	// Desktop is a terminal that shows notifications, too; nil: there is none. Targets may be empty then.
	Desktop io.Writer     `kong:"-"`
	MaxAge  time.Duration `name:"max-age" default:"24h" help:"Age at which a notification is given up: it is news no more."`
}

// Defaults of Settings.
const (
	DefaultRetry  = 5 * time.Second
	DefaultMaxAge = 24 * time.Hour
)

// Main is the service, for a program that serves it.
func Main() service.Main {
	return service.Main{Name: "notify", About: "Notifies people, by webhooks and chats, of what waits for them and of ends.", Program: &App{}}
}

// Setup implements service.Program.
func (a *App) Setup(ctx context.Context, h *service.Host) error { return a.Settings.Setup(ctx, h) }

// Setup adds the service to a host.
func (s Settings) Setup(ctx context.Context, h *service.Host) error {
	if at, err := url.Parse(s.Console); s.Console != "" && (err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http") {
		return service.Usagef("--console-url %s: want an address such as https://signalbox.example.com/", s.Console)
	}
	if s.Retry <= 0 || s.MaxAge <= 0 {
		return service.Usagef("--retry, --max-age: want a time above zero, such as 5s and 24h")
	}
	n := &notifier{Settings: s, log: h.Log, client: client.New(h.NATS, h.Name), now: time.Now, definitions: map[string]*workflow.Definition{}, delivered: map[string]bool{}}
	var err error
	if s.Targets != "" || s.Desktop == nil {
		if n.targets, err = readTargets(s.Targets, n.now); err != nil {
			return service.Usagef("--notify: %w", err)
		}
	}
	if s.Desktop != nil {
		_, usual := Events()
		n.targets = append(n.targets, target{name: desktopName, events: usual, sender: desktop{s.Desktop}})
	}
	scanner, err := secret.New()
	if err != nil {
		return err
	}
	n.writer = writer{secrets: scanner, console: s.Console}
	js, err := access.JetStreamAs(ctx, h.NATS, access.Party{Kind: access.Notify})
	if err != nil {
		return fmt.Errorf("--nats-nkey: %w", err)
	}
	n.count = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "signalbox_notifications_total",
		Help: "Deliveries of notifications, by target and result."}, []string{"target", "result"})
	h.Metrics.MustRegister(n.count)
	for _, t := range n.targets {
		for _, result := range []string{delivered, again, givenUp} {
			n.count.WithLabelValues(t.name, result)
		}
	}
	h.Add("notify", func(ctx context.Context) error { return n.run(ctx, js) })
	return nil
}
