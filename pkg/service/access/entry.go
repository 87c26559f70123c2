package access

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// Entry is where requests to a service of the account System arrive, and from which party.
// The zero value is that of a server whose accounts Config wrote: each request arrives on a
// subject that the server maps from the requester's account.
type Entry struct {
	shared bool // all that reach the server are in one account
}

// Shared is the Entry of a server without accounts: whoever reaches it is the orchestrator.
func Shared() Entry { return Entry{shared: true} }

// ErrOldAccounts means that NATS has accounts that an older version wrote. The server then
// names the requester in a header alone, which the requester can forge.
var ErrOldAccounts = errors.New("NATS has accounts of an older version, under which a request can pretend to come from another account: " +
	"stop the orchestrators, run signalbox auth upgrade, and reload nats-server (nats-server --signal reload)")

// patience bounds how long the server may take to reply.
const patience = 10 * time.Second

// FindEntry asks the server, by a request to the connection's own account, how requests
// arrive. It returns ErrOldAccounts if the server has the account System without its mapping.
// The connection is one of the orchestrator's account.
func FindEntry(ctx context.Context, nc *nats.Conn) (Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	account, err := accountOf(ctx, nc)
	if err != nil {
		return Entry{}, err
	}
	mapped, err := arrivesMapped(ctx, nc)
	switch {
	case err != nil:
		return Entry{}, fmt.Errorf("ask NATS how requests arrive: %w", err)
	case mapped:
		return Entry{}, nil
	case account == System:
		return Entry{}, ErrOldAccounts
	}
	return Shared(), nil
}

// arrivesMapped reports whether the server maps a request of the connection's account to a subject
// with the name System.
func arrivesMapped(ctx context.Context, nc *nats.Conn) (bool, error) {
	to, err := subject.API("probe-" + strings.ToLower(nuid.Next()))
	if err != nil {
		return false, err
	}
	arrives, err := subject.From(System, to)
	if err != nil {
		return false, err
	}
	sub, err := nc.SubscribeSync(arrives)
	if err != nil {
		return false, err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := nc.Publish(to, nil); err != nil {
		return false, err
	}
	// The server delivers before it replies to the flush.
	if err := nc.FlushWithContext(ctx); err != nil {
		return false, err
	}
	n, _, err := sub.Pending()
	return n > 0, err
}

// Subject returns the subject or filter that a service subscribes to for requests that
// are published on s.
func (e Entry) Subject(s string) (string, error) {
	if e.shared {
		return s, nil
	}
	return subject.From("*", s)
}

// Requester returns the party that sent a request, and the subject that it published the
// request on, given the subject on which the request arrived. Parties of System count as
// the orchestrator. The error is ErrParty for a subject that names none: it is of nobody.
func (e Entry) Requester(arrived string) (p Party, published string, err error) {
	if e.shared {
		return Party{Kind: Orchestrator}, arrived, nil
	}
	account, published, err := subject.ParseFrom(arrived)
	if err != nil {
		return Party{}, arrived, fmt.Errorf("%w: %w", ErrParty, err)
	}
	if account == System {
		return Party{Kind: Orchestrator}, published, nil
	}
	if p, err = ParseParty(account); err == nil && p.Account() != account {
		err = fmt.Errorf("%w: %q has no account of its own", ErrParty, account) // orchestrator, plan-manager
	}
	if err != nil {
		return Party{}, published, err
	}
	return p, published, nil
}
