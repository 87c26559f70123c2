package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// configuredWithin is how long a gateway may take to tell the configuration of a repository.
const configuredWithin = 5 * time.Second

// configuredBy returns the configuration that is in force for a repository, as the gateway
// puts it into what it opens; nil for none. It says on stderr what is wrong with a newer
// file, and that no gateway tells. The error says that nothing new is to be opened.
func (s system) configuredBy(ctx context.Context, env *term.Env, repo string) (*instance.Configuration, error) {
	if repo == "" {
		return nil, nil
	}
	config, err := s.configuration(ctx, repo)
	if errors.Is(err, forgeside.ErrUnread) {
		fmt.Fprintf(env.Stderr, "%s; new instances use the operator's values and ignore the file: "+
			"open it while a gateway that watches the repository runs, with an account that may ask it\n", term.Line(err.Error()))
		return nil, nil
	}
	if err == nil && config != nil && config.Problem != "" {
		fmt.Fprintf(env.Stderr, "%s\n", term.Text(config.Problem))
	}
	return config, err
}

// configuration asks the gateway which configuration is in force for a repository.
func (s system) configuration(ctx context.Context, repo string) (*instance.Configuration, error) {
	within, cancel := context.WithTimeout(ctx, configuredWithin)
	defer cancel()
	config, err := forgeside.RequestConfiguration(within, s.nats, repo)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", repo, err)
	}
	return config, nil
}

// wouldBeConfigured says on stderr by which configuration a dry run's instances would go.
func wouldBeConfigured(env *term.Env, repo string) {
	if repo != "" {
		fmt.Fprintf(env.Stderr, "they would use the configuration of %s that a gateway reports, or the operator's values if none does\n", term.Line(repo))
	}
}
