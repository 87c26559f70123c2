package app

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/engine/subject"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
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

// keyed reports whether the console asks by an account of the person's own.
func (c *Console) keyed(who person) bool {
	return c.party.Kind == access.Console && !strings.HasSuffix(who.Actor, access.GitHub)
}

// as returns the client that gives a person's commands.
func (c *Console) as(who person) *client.Client {
	switch {
	case c.keyed(who):
		return c.client.As(access.Party{Kind: who.Right, Name: who.name()}.Account())
	case c.party.Kind == access.Console:
		return c.client.For(who.Actor, string(who.Right))
	}
	return c.client
}

// Whether a person still has an account is asked for so often, and for so long.
const (
	accountEvery = 2 * time.Second
	accountTries = time.Second
)

// gone reports whether a person has no account, because it was revoked or the server reads accounts of an older version. It
// asks as the person twice, and an orchestrator answers the console itself in between: a busy system signs nobody out.
func (c *Console) gone(ctx context.Context, who person) bool {
	answers := func(as *client.Client) bool {
		ctx, cancel := context.WithTimeout(ctx, accountTries)
		defer cancel()
		_, err := as.Counts(ctx, &pb.CountsRequest{})
		return err == nil
	}
	return c.keyed(who) && !answers(c.as(who)) && answers(c.client) && !answers(c.as(who))
}

// revoke ends the sessions of people who have no account any more, until ctx ends.
func (c *Console) revoke(ctx context.Context) error {
	check := time.NewTicker(accountEvery)
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-check.C:
		}
		for _, who := range c.sessions.people() {
			if c.gone(ctx, who) {
				c.sessions.revoke(who)
				c.log.Warn("signed out: the key was revoked", "as", who.Actor)
			}
		}
	}
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
			} else if c.gone(context.Background(), who) {
				reply.Refused = "the accounts do not let the console ask as you: run signalbox auth init again, and reload nats-server"
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
