package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ErrNoJetStream is returned by JetStream for accounts that reach nothing of it: people's
// but administrators'. They read through the orchestrator.
var ErrNoJetStream = errors.New("may not read the log's store itself, want an account that can admin")

// JetStream returns JetStream over a connection, as the connection's account reaches it:
// an account but System imports its part under APIPrefix.
func JetStream(ctx context.Context, nc *nats.Conn) (jetstream.JetStream, error) {
	account, err := accountOf(ctx, nc)
	if err != nil {
		return nil, err
	}
	return over(nc, account)
}

// ErrOther means that a service was given the key of another party.
var ErrOther = errors.New("this key is another's")

// JetStreamAs returns JetStream for a service, as JetStream does. It is ErrOther on the
// account of another party: that one reaches neither the service's work nor an answer.
func JetStreamAs(ctx context.Context, nc *nats.Conn, service Party) (jetstream.JetStream, error) {
	account, err := accountOf(ctx, nc)
	if err != nil {
		return nil, err
	}
	if p, err := ParseParty(account); err == nil && p != service {
		return nil, fmt.Errorf("%w: it is the key of %s, want that of %s (signalbox auth)", ErrOther, p, service)
	}
	return over(nc, account)
}

// over returns JetStream over a connection of the account.
func over(nc *nats.Conn, account string) (jetstream.JetStream, error) {
	p, err := ParseParty(account)
	switch {
	case err != nil: // System, or no account of ours
		return jetstream.New(nc)
	case p.Kind == View || p.Kind == Act:
		return nil, fmt.Errorf("%s %w", p, ErrNoJetStream)
	}
	return jetstream.NewWithAPIPrefix(nc, APIPrefix)
}

// Connected returns the party of a connection. ok is false on a server without our accounts,
// and if the server does not say.
func Connected(ctx context.Context, nc *nats.Conn) (p Party, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	account, err := accountOf(ctx, nc)
	if account == System {
		return Party{Kind: Orchestrator}, err == nil
	}
	p, parsed := ParseParty(account)
	return p, err == nil && parsed == nil
}

// accountOf asks the server for the account of a connection. It is "$G" on a server
// without accounts.
func accountOf(ctx context.Context, nc *nats.Conn) (string, error) {
	reply, err := nc.RequestWithContext(ctx, "$SYS.REQ.USER.INFO", nil)
	if err != nil {
		return "", fmt.Errorf("ask NATS for the account of this connection: %w", err)
	}
	var info struct {
		Data struct {
			Account string `json:"account"`
		} `json:"data"`
	}
	if err := json.Unmarshal(reply.Data, &info); err != nil {
		return "", fmt.Errorf("ask NATS for the account of this connection: %w", err)
	}
	return info.Data.Account, nil
}
