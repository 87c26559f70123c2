package allinone

import (
	"context"
	"fmt"

	"github.com/signalbox/signalbox/pkg/agent/outbound"
	"github.com/signalbox/signalbox/pkg/forge/forgeside"
)

// share makes one client of the forge for all services, with one cache and one account of
// its limits. If it is a bot of another forge than our own, that is the author of commits,
// unless one is given.
func (c *Config) share(ctx context.Context, own bool) error {
	client, err := c.Forge.Client()
	if err != nil {
		return err
	}
	c.Forge = c.Forge.Opened(client)
	if c.Agents.CommitAs != "" || own {
		return nil
	}
	who, err := forgeside.Identity(ctx, client)
	if err != nil {
		return fmt.Errorf("the account that works on the forge: %w", err)
	}
	if who != (outbound.Identity{}) {
		c.Agents.CommitAs = who.String()
	}
	return nil
}

// hidden returns what brains and tests do not see: the data, and the credentials of the
// forge.
func (c *Config) hidden() []string { return append([]string{c.Dir}, c.Forge.Files()...) }
