package cli

import (
	"fmt"
	"path/filepath"

	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

type authUpgrade struct{ authDir }

// Help returns the details.
func (authUpgrade) Help() string {
	return `An orchestrator of this version does not start on accounts that an older version wrote. One of an older version gets no
requests on accounts of this version. So both change together: agents, the gateway and people keep their keys and go on, and
their requests wait for some seconds.`
}

// Run rewrites the accounts.
func (c authUpgrade) Run(env *term.Env) error {
	upgraded, err := c.directory().Upgrade()
	if err != nil {
		return c.hint(err)
	}
	config, before := filepath.Join(c.Dir, access.ConfigFile), filepath.Join(c.Dir, access.BeforeFile)
	if !upgraded {
		fmt.Fprintf(env.Stdout, "%s is of this version; nothing was changed\n", config)
		return nil
	}
	fmt.Fprintf(env.Stdout, "%s is of this version now; a copy of the one before is %s\n", config, before)
	fmt.Fprintf(env.Stdout, "now, in this order: stop the orchestrators and the plan-manager; nats-server --signal reload; start those of this version\n")
	fmt.Fprintf(env.Stdout, "to go back: stop them; cp %s %s; reload; start those of the older version. A party that was added or revoked since is as before\n",
		term.Quote(before), term.Quote(config))
	return nil
}
