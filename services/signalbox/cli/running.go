package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/client"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/services/signalbox/term"
)

// running has the flags of the commands that connect to a running system.
type running struct {
	Timeout time.Duration `name:"timeout" default:"10s" help:"How long to wait for an answer."`
}

// system is a connection to a running system.
type system struct {
	*client.Client
	nats *nats.Conn
	at   string // server URLs without passwords
}

// connectPatience is how long a server may take to accept the connection. It is short,
// so that a missing server is reported soon.
const connectPatience = 3 * time.Second

// call connects, calls f with a context that ends with the time-out, and disconnects.
// If no orchestrator replied in time the error says so.
func (r running) call(ctx context.Context, env *term.Env, f func(context.Context, system) error) error {
	s, err := r.connect(ctx, env)
	if err != nil {
		return err
	}
	defer s.nats.Close()
	return r.callOn(ctx, env, s, f)
}

// callOne is call for one instance. Where none has the id, and the id is the end of exactly
// one, id becomes that one's.
func (r running) callOne(ctx context.Context, env *term.Env, id *string, f func(context.Context, system) error) error {
	return r.call(ctx, env, func(ctx context.Context, s system) error {
		return completed(ctx, s, id, func() error { return f(ctx, s) })
	})
}

// callOn is call on an open connection.
func (r running) callOn(ctx context.Context, env *term.Env, s system, f func(context.Context, system) error) error {
	limited, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	err := meant(limited, s, f(limited, s))
	if ctx.Err() == nil && (errors.Is(err, client.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)) {
		env.Log.Debug("no answer", "error", err)
		if p, ok := access.Connected(ctx, s.nats); ok && !p.Person() && p.Kind != access.Orchestrator {
			return fmt.Errorf("%s does not reach this, want the key of a person: signalbox auth add-person", p)
		}
		if no := new(client.RefusedError); errors.As(err, &no) {
			return fmt.Errorf("the orchestrator cannot do it now: %s", no.Reason)
		}
		return fmt.Errorf("nobody answers: NATS is at %s, but no orchestrator replied within %s: is `signalbox up` running?", s.at,
			term.Duration(r.Timeout))
	}
	return err
}

// errSilent means that no NATS server answers.
var errSilent = errors.New("nobody answers")

// connect connects to NATS. The caller closes the connection. An error names the
// servers if none accepts it in time.
func (r running) connect(ctx context.Context, env *term.Env) (system, error) {
	log := env.Log
	if env.Logging.Level != "debug" { // the command reports a lost connection
		log = service.Logging{Level: "error", Format: env.Logging.Format}.Logger(env.Stderr)
	}
	s := system{at: address(env.NATS.URL)}
	connecting, cancel := context.WithTimeout(ctx, min(r.Timeout, connectPatience))
	defer cancel()
	nc, err := service.Connect(connecting, env.NATS, "signalbox", log)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return s, fmt.Errorf("%w at %s: is `signalbox up` running?", errSilent, s.at)
	}
	if err != nil {
		return s, err
	}
	s.nats, s.Client = nc, client.New(nc, env.User)
	return s, nil
}

// address returns a list of server URLs without passwords and tokens.
func address(urls string) string {
	list := strings.Split(urls, ",")
	for i, s := range list {
		if u, err := url.Parse(strings.TrimSpace(s)); err == nil && u.User != nil {
			u.User = url.User("…")
			list[i], _ = url.PathUnescape(u.String())
		}
	}
	return strings.Join(list, ",")
}
