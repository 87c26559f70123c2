package up

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/pkg/forge/forgeside"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
)

// forgePatience is how long the forge may take to answer at the start.
const forgePatience = 20 * time.Second

// check returns a usage error if an address, the forge, its token or a repository cannot be used.
// Later such a fault is retried, at a start a person looks. Directories become the roots of their
// repositories.
func (c Command) check(ctx context.Context, config allinone.Config) error {
	if err := c.checkAddresses(); err != nil {
		return err
	}
	if c.URL == "" {
		for name, from := range config.Repos {
			root, err := allinone.Repository(ctx, from.Dir)
			if err != nil {
				return service.Usagef("--repo %s: %w", from.Dir, err)
			}
			from.Dir = root
			config.Repos[name] = from
		}
		return nil
	}
	if len(c.Repo) == 0 {
		return service.Usagef("--forge-url: want a --repo OWNER/NAME to watch there")
	}
	repos := forgeside.Repositories(c.Repo)
	if err := repos.Validate(); err != nil {
		return service.Usagef("%w", err)
	}
	if config.Forge.Anonymous(ctx) && !c.Dry {
		return service.Usagef("--forge-url: there is no token: give --forge-token-file FILE, or GITHUB_TOKEN, of one that may read and write %s; "+
			"or a GitHub App, --forge-app-id and --forge-app-key-file", c.Repo[0])
	}
	ctx, cancel := context.WithTimeout(ctx, forgePatience)
	defer cancel()
	if err := config.Forge.Reach(ctx, repos.Exact()); err != nil {
		return service.Usagef("%w", err)
	}
	return nil
}

// checkAddresses returns a usage error for a flag that is no address to listen at.
func (c Command) checkAddresses() error {
	for _, one := range [][2]string{{"--listen", c.Listen}, {"--web", c.Web}, {"--http", c.HTTP}, {"--console", c.Console}, {"--webhook", c.Webhook.Addr}} {
		if err := service.CheckAddress(one[0], one[1]); err != nil {
			return err
		}
	}
	return nil
}
