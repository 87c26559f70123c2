// Package model is a brain that talks to a language model itself: a loop of turns in which
// the model calls tools. Files are read and changed below the work tree alone, commands
// run in the sandbox without a network, and the model's traffic stays outside of it.
package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/brain"
	"github.com/signalbox/signalbox/pkg/agent/brain/mcp"
	"github.com/signalbox/signalbox/pkg/agent/brain/prompt"
	"github.com/signalbox/signalbox/pkg/agent/sandbox"
)

// Config configures a Brain. Of zero, a number is its default.
type Config struct {
	Provider string // one of Providers
	Name     string // of the model, as the provider calls it
	URL      string // of the provider; empty: what the environment says, or else its own
	Key      string // empty: what the environment says

	Turns       int           // answers of the model in one piece of work; 0: 100
	MaxTokens   int           // of one answer; 0: 16000
	Temperature *float64      // nil: the provider's default
	Effort      string        // empty: the provider's default
	Cards       Cards         // prices and sizes of models; nil: DefaultCards
	Wall        time.Duration // for one piece of work; 0: 30 min
	Idle        time.Duration // how long nothing of an answer may come; 0: 10 min
	Patience    time.Duration // with a provider that does not answer; 0: 10 min, negative: none
	Endpoints   *Endpoints    // shared by all that use the same; nil: its own

	Sandbox sandbox.Sandbox // of commands; the zero Sandbox confines nothing
	Command time.Duration   // how long a command may run; 0: 5 min
	Limits  sandbox.Limits  // of commands
	// Cache returns the directory of the caches of the commands' tools; nil: they are
	// thrown away.
	Cache func(brain.Assignment) string
	Clock Clock // nil: the machine's

	Servers mcp.Servers // whose tools it may call, too; Ready

	Prompts prompt.Set

	card Card
}

// Providers returns the names of the providers.
func Providers() []string { return []string{"anthropic", "openai", "openai-chat"} }

// Parse reads PROVIDER/NAME into a configuration.
func Parse(spec string) (Config, error) {
	provider, name, _ := strings.Cut(strings.TrimSpace(spec), "/")
	if !slices.Contains(Providers(), provider) || name == "" {
		return Config{}, fmt.Errorf("model:%s: want model:PROVIDER/NAME, with one of the providers %s", spec, strings.Join(Providers(), ", "))
	}
	return Config{Provider: provider, Name: name}, nil
}

// variable is a variable of the provider's, such as ANTHROPIC_API_KEY.
func (c Config) variable(name string) string {
	if c.Provider == "anthropic" {
		return "ANTHROPIC_" + name
	}
	return "OPENAI_" + name
}

// url is where the provider is.
func (c Config) url() string {
	own := "https://api.openai.com/v1"
	if c.Provider == "anthropic" {
		own = "https://api.anthropic.com"
	}
	return cmp.Or(c.URL, os.Getenv(c.variable("BASE_URL")), own)
}

// Brain is a model. It implements brain.Watched.
type Brain struct {
	cfg      Config
	service  service
	endpoint *endpoint
}

// New returns a Brain, or an error that says which key is missing.
func New(cfg Config) (*Brain, error) {
	keyed := cfg.Key != "" || os.Getenv(cfg.variable("API_KEY")) != "" ||
		cfg.Provider == "anthropic" && os.Getenv("ANTHROPIC_AUTH_TOKEN") != ""
	if own := (Config{Provider: cfg.Provider}).variable("BASE_URL"); !keyed && cfg.URL == "" && os.Getenv(own) == "" {
		return nil, fmt.Errorf("there is no key: set %s, or for a server of your own %s", cfg.variable("API_KEY"), own)
	}
	if !keyed {
		cfg.Key = "none" // a server of one's own
	}
	if cfg.Cards == nil {
		cfg.Cards = DefaultCards()
	}
	cfg.card = cfg.Cards.of(cfg.Name)
	cfg.Turns, cfg.MaxTokens = cmp.Or(cfg.Turns, 100), cmp.Or(cfg.MaxTokens, 16000)
	cfg.Wall, cfg.Idle, cfg.Command = cmp.Or(cfg.Wall, 30*time.Minute), cmp.Or(cfg.Idle, 10*time.Minute), cmp.Or(cfg.Command, 5*time.Minute)
	cfg.Patience = cmp.Or(cfg.Patience, 10*time.Minute)
	if cfg.Endpoints == nil {
		cfg.Endpoints = &Endpoints{}
	}
	if cfg.Clock == nil {
		cfg.Clock = machine{}
	}
	b := &Brain{cfg: cfg, endpoint: cfg.Endpoints.at(cfg.url())}
	switch cfg.Provider {
	case "anthropic":
		b.service = messages{newProvider(cfg), cfg}
	case "openai":
		b.service = answers{newProvider(cfg), cfg}
	case "openai-chat":
		b.service = chat{newProvider(cfg), cfg}
	default:
		return nil, fmt.Errorf("provider %q: want one of %s", cfg.Provider, strings.Join(Providers(), ", "))
	}
	return b, nil
}

// String is the brain as a flag names it.
func (b *Brain) String() string { return "model:" + b.cfg.Provider + "/" + b.cfg.Name }

// Work implements brain.Brain.
func (b *Brain) Work(ctx context.Context, a brain.Assignment) (brain.Outcome, error) {
	return brain.Unwatched(ctx, b, a)
}

// ErrTimeLimit marks work that was stopped at its limit of time.
var ErrTimeLimit = errors.New("time limit")

// Watch implements brain.Watched.
func (b *Brain) Watch(ctx context.Context, a brain.Assignment, w brain.Watcher) (brain.Outcome, error) {
	if b.cfg.Wall > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, b.cfg.Wall, fmt.Errorf("%w: %s was stopped after %s", ErrTimeLimit, b, b.cfg.Wall))
		defer cancel()
	}
	asked := b.cfg.Prompts.RenderTools(a)
	s := &step{Brain: b, a: a, w: w, began: time.Now(), transcript: transcript{print: brain.Printer(ctx)}}
	out, err := s.run(ctx, asked.Text)
	out.Asked, out.Template, out.Unusable = []byte(s.system()+"\n\n"+asked.Text), asked.String(), asked.Refused
	out.Output = s.transcript.bytes()
	out.Result.Spend.WallMS = s.passed()
	return out, err
}
