package embedded

import (
	"fmt"

	"github.com/nats-io/nats-server/v2/server"
	"golang.org/x/crypto/bcrypt"

	"github.com/signalbox/signalbox/pkg/service/access"
)

// setAccounts sets the accounts of the parties, their keys, and the user of the person that
// owns the store. The processes of that person connect to the orchestrator's account.
func setAccounts(options *server.Options, c Config) error {
	text, err := c.Keys.Config()
	if err != nil {
		return err
	}
	var read server.Options
	if err := read.ProcessConfigString(text); err != nil {
		return fmt.Errorf("accounts: %w", err)
	}
	options.Accounts, options.Nkeys = read.Accounts, read.Nkeys
	for _, a := range options.Accounts {
		if a.Name != access.System {
			continue
		}
		a.Name = server.DEFAULT_GLOBAL_ACCOUNT
		if c.User == "" {
			continue
		}
		// The password is random and long: the hash need not be slow.
		hash, err := bcrypt.GenerateFromPassword([]byte(c.Password), bcrypt.MinCost)
		if err != nil {
			return err
		}
		options.Users = []*server.User{{Username: c.User, Password: string(hash), Account: a}}
	}
	return nil
}
