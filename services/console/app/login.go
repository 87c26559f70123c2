package app

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
)

// person is who acts on the pages.
type person struct {
	Actor string      // in the log: "operator:ann"
	Right access.Kind // view, act or admin
}

// personOf returns the person with an account.
func personOf(p access.Party) person { return person{access.Operator + p.Name, p.Kind} }

func (p person) name() string { return strings.TrimPrefix(p.Actor, access.Operator) }

// may reports whether the person may give a command. The orchestrator decides: pages turn off what it would refuse.
func (p person) may(command string) bool { return access.Party{Kind: p.Right}.May(command) }

// as returns the client that gives a person's commands.
func (c *Console) as(who person) *client.Client {
	if c.party.Kind == access.Console {
		return c.client.For(who.Actor, string(who.Right))
	}
	return c.client
}

// Login is the reply to a request for a link that signs in.
type Login struct {
	Link    string `json:"link,omitempty"`
	Refused string `json:"refused,omitempty"`
}

// serveLogin answers requests for links. A console with an account of its own answers a person, whose account the
// server attests, with a link that signs in as them. One with the account of the orchestrator answers those who have
// that, too. One with the account of a person is asked by nobody.
func (c *Console) serveLogin(h *service.Host) error {
	if c.party.Person() {
		return nil
	}
	at, own := subject.SignIn, c.party.Kind == access.Console
	if own {
		var err error
		if at, err = subject.From("*", at); err != nil {
			return err
		}
	}
	sub, err := h.NATS.Subscribe(at, func(m *nats.Msg) {
		who := c.sessions.self
		var reply Login
		if own {
			p, _, err := access.Entry{}.Requester(m.Subject)
			if who = personOf(p); err != nil || !p.Person() {
				reply.Refused = "this is the key of no person"
			}
		}
		if reply.Refused == "" {
			if reply.Link = c.sessions.link(who); reply.Link == "" {
				reply.Refused = fmt.Sprintf("%d links are not used yet: try again in an hour", maxLinks)
			}
		}
		c.log.Info("link asked for", "as", who.Actor, "refused", reply.Refused)
		if data, err := json.Marshal(reply); err == nil {
			_ = m.Respond(data) // a lost reply is asked for again
		}
	})
	if err != nil {
		return fmt.Errorf("subscribe to %s: %w", at, err)
	}
	h.AddBase("console-login", func(ctx context.Context) error {
		<-ctx.Done()
		_ = sub.Unsubscribe() // fails only if the connection is closed
		return nil
	})
	return h.NATS.Flush()
}
