package allinone

import "crypto/rand"

// deliver has the local forge tell the gateway's webhook, if there is one, of each change.
// Without a secret of the operator's they have one of their own.
func (c *Config) deliver(f *Forge) error {
	if c.Webhook.Addr == "" {
		return nil
	}
	if c.Webhook.Secret == "" && c.Webhook.SecretFile == "" {
		c.Webhook.Secret = rand.Text()
	}
	address, secret, err := c.Webhook.Target()
	if err == nil {
		f.SetWebhook(address, secret)
	}
	return err
}
