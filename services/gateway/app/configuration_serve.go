package app

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/micro"

	"github.com/signalbox/signalbox/pkg/forge"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// readWithin is how long a file may take to be read for who asks.
const readWithin = 30 * time.Second

// configuration answers sb.forge.configuration until ctx ends: which configuration is in
// force for a repository, or how the forge is. Any goroutine may call it.
func (w *watched) configuration(ctx context.Context, m micro.Request) {
	var asked forgeside.ConfigurationRequest
	if err := json.Unmarshal(m.Data(), &asked); err != nil {
		_ = m.Error(forgeside.NotWatched, "want a repository: "+err.Error(), nil)
		return
	}
	if asked.Repo == "" {
		var answer forgeside.ConfigurationAnswer
		if err := w.fault(); err != nil {
			answer.Fault = err.Error()
		}
		_ = m.RespondJSON(answer)
		return
	}
	of, ok := w.lookUp(asked.Repo)
	if !ok {
		_ = m.Error(forgeside.NotWatched, fmt.Sprintf("the gateway does not watch %q", asked.Repo), nil)
		return
	}
	within, cancel := context.WithTimeout(forge.WithUrgency(ctx, forge.Urgent), readWithin)
	defer cancel()
	config, err := of.issues.configs.current(within)
	switch {
	case err != nil:
		_ = m.Error(forgeside.NotRead, err.Error(), nil)
	case config.never:
		_ = m.Error(forgeside.Misconfigured, "the configuration is wrong", []byte(config.wrong.Error())) // it may have lines
	default:
		_ = m.RespondJSON(forgeside.ConfigurationAnswer{Config: config.forInstance(config.newer)})
	}
}
