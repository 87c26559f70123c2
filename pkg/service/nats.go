package service

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/service/access"
)

// NATS are the flags of the connection: servers and credentials.
type NATS struct {
	URL          string `name:"nats" group:"NATS" env:"SIGNALBOX_NATS,NATS_URL" default:"nats://127.0.0.1:4222" placeholder:"URL" help:"Servers, separated by commas; ${default} by default."`
	Creds        string `name:"nats-creds" group:"NATS" type:"existingfile" placeholder:"FILE" xor:"nats" help:"Credentials file (JWT and seed)."`
	NKey         string `name:"nats-nkey" group:"NATS" type:"existingfile" placeholder:"FILE" xor:"nats" help:"NKey seed file."`
	User         string `name:"nats-user" group:"NATS" placeholder:"NAME" xor:"nats" help:"User name; the password is in --nats-password-file."`
	PasswordFile string `name:"nats-password-file" group:"NATS" type:"existingfile" placeholder:"FILE" help:"File that holds the user's password."`
	CA           string `name:"nats-ca" group:"NATS" type:"existingfile" placeholder:"FILE" help:"Certificates of authorities that may vouch for the servers, in PEM; those of the system by default."`
	Cert         string `name:"nats-cert" group:"NATS" type:"existingfile" placeholder:"FILE" help:"Certificate of this client, in PEM, for servers that ask for one."`
	Key          string `name:"nats-key" group:"NATS" type:"existingfile" placeholder:"FILE" help:"Key of --nats-cert."`
}

const (
	reconnectWait   = 500 * time.Millisecond
	reconnectJitter = 500 * time.Millisecond // a server that returns is not met by all at once
	drainTimeout    = 10 * time.Second

	// A half-open connection reports no error. It is replaced after three pings
	// without a reply.
	pingInterval = 5 * time.Second
	pingsOut     = 2
)

// Connect returns a connection with the name when a server has accepted it. It tries
// until ctx ends. Later the connection reconnects without a limit. A server that
// refuses the credentials, or at first has a certificate that nobody vouches for, ends
// both. Refused messages and lost connections are
// logged.
func Connect(ctx context.Context, n NATS, name string, log *slog.Logger, extra ...nats.Option) (*nats.Conn, error) {
	login, err := n.login(extra)
	if err != nil {
		return nil, err
	}
	certificates, err := n.certificates()
	if err != nil {
		return nil, err
	}
	untrusted := make(chan error, 1)
	options := append([]nats.Option{
		nats.Name(name),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(reconnectJitter, reconnectJitter),
		nats.DrainTimeout(drainTimeout),
		nats.PingInterval(pingInterval),
		nats.MaxPingsOutstanding(pingsOut),
		nats.ErrorHandler(logAsync(log)),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				log.Warn("NATS connection lost", "error", err)
			}
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) {
			log.Debug("NATS connection not made", "error", err)
			if wrong := new(tls.CertificateVerificationError); errors.As(err, &wrong) {
				select {
				case untrusted <- err:
				default:
				}
			}
		}),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			log.Info("NATS connection back", "server", nc.ConnectedUrlRedacted())
		}),
	}, slices.Concat(login, certificates)...)

	nc, err := nats.Connect(n.URL, append(options, extra...)...)
	if errors.Is(err, nats.ErrAuthorization) {
		return nil, n.refused(err)
	}
	if err != nil {
		return nil, fmt.Errorf("NATS at %s: %w", redact(n.URL), err)
	}
	changed := nc.StatusChanged(nats.CONNECTED, nats.CLOSED)
	defer nc.RemoveStatusListener(changed)
	if nc.IsConnected() {
		return nc, nil
	}
	log.Warn("waiting for NATS", "server", redact(n.URL))
	select {
	case status := <-changed:
		if status == nats.CONNECTED {
			return nc, nil
		}
		if err := nc.LastError(); errors.Is(err, nats.ErrAuthorization) {
			return nil, n.refused(err)
		}
		return nil, fmt.Errorf("NATS at %s: %w", redact(n.URL), cmp.Or(nc.LastError(), nats.ErrConnectionClosed))
	case err := <-untrusted:
		nc.Close()
		return nil, fmt.Errorf("NATS at %s: its certificate is not to be trusted: %w; --nats-ca names the authority that vouches for it",
			redact(n.URL), err)
	case <-ctx.Done():
		last := nc.LastError()
		nc.Close()
		return nil, fmt.Errorf("NATS at %s: %w: %w", redact(n.URL), context.Cause(ctx), cmp.Or(last, nats.ErrNoServers))
	}
}

// refused adds to an authorization error how to give credentials.
func (n NATS) refused(err error) error {
	if n.Creds+n.NKey+n.User != "" {
		return fmt.Errorf("NATS at %s: %w", redact(n.URL), err)
	}
	return fmt.Errorf("NATS at %s: %w: it wants credentials: --nats-creds, --nats-nkey or --nats-user, or the system is another person's",
		redact(n.URL), err)
}

// login returns the options with the credentials. Those of the caller go first.
func (n NATS) login(extra []nats.Option) ([]nats.Option, error) {
	switch {
	case n.Creds != "":
		return []nats.Option{nats.UserCredentials(n.Creds)}, nil
	case n.NKey != "":
		key, err := access.LoginFile(n.NKey)
		if err != nil {
			return nil, err
		}
		return []nats.Option{key}, nil
	case n.User != "":
		if n.PasswordFile == "" {
			return nil, Usagef("--nats-user %s needs --nats-password-file", n.User)
		}
		password, err := os.ReadFile(n.PasswordFile)
		if err != nil {
			return nil, err
		}
		return []nats.Option{nats.UserInfo(n.User, strings.TrimSpace(string(password)))}, nil
	}
	if own, err := applied(extra); err != nil || own.InProcessServer != nil || own.User != "" {
		return nil, err
	}
	// Read at each attempt: a restarted server has a new password.
	return []nats.Option{nats.UserInfoHandler(func() (user, password string) {
		if password = localPassword(n.URL); password == "" {
			return "", ""
		}
		return LocalUser, password
	})}, nil
}

// certificates returns the options of TLS. A URL of scheme tls asks for it, and so does
// each of the files.
func (n NATS) certificates() (options []nats.Option, err error) {
	if (n.Cert == "") != (n.Key == "") {
		return nil, Usagef("--nats-cert and --nats-key belong together")
	}
	if n.CA != "" {
		options = append(options, nats.RootCAs(n.CA))
	}
	if n.Cert != "" {
		options = append(options, nats.ClientCert(n.Cert, n.Key))
	}
	if _, err := applied(options); err != nil {
		return nil, fmt.Errorf("certificates of NATS: %w", err)
	}
	return options, nil
}

// applied returns the values that options set.
func applied(options []nats.Option) (o nats.Options, err error) {
	for _, option := range options {
		if err := option(&o); err != nil {
			return o, err
		}
	}
	return o, nil
}

// logAsync logs errors that NATS reports outside a call. The caller of a refused
// publish sees a time-out only.
func logAsync(log *slog.Logger) nats.ErrHandler {
	return func(_ *nats.Conn, sub *nats.Subscription, err error) {
		log := log.With("error", err)
		if sub != nil {
			log = log.With("subject", sub.Subject)
		}
		switch {
		case errors.Is(err, nats.ErrPermissionViolation):
			log.Error("NATS permissions forbid this")
		case errors.Is(err, nats.ErrSlowConsumer) && sub != nil:
			dropped, _ := sub.Dropped()
			log.Warn("messages came faster than they were taken", "dropped", dropped)
		default:
			log.Warn("NATS error")
		}
	}
}

// redact hides passwords and tokens in a list of URLs.
func redact(urls string) string {
	list := strings.Split(urls, ",")
	for i, s := range list {
		u, err := url.Parse(strings.TrimSpace(s))
		if err != nil || u.User == nil {
			continue
		}
		if _, ok := u.User.Password(); !ok {
			u.User = url.User("xxxxx") // alone it is a token
		}
		list[i] = u.Redacted()
	}
	return strings.Join(list, ",")
}
