package jetstream

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// ErrNoMajority means that too few of the NATS servers that keep the log are
// reachable, or that they have not elected a leader yet. Nothing is stored until
// then. It passes when they are back.
var ErrNoMajority = errors.New("no majority of the NATS servers that keep the log is there, " +
	"or it has not chosen its leader yet; nothing is stored until then")

// Majority returns ErrNoMajority, with the names of the missing servers, if too few
// of the servers that keep the log are reachable. A single server is a majority.
// Any other error says that the state is unknown.
func Majority(ctx context.Context, js jetstream.JetStream) error {
	return MajorityOf(subject.EventStream)(ctx, js)
}

// Look asks whether the servers that keep something have a majority, as Majority does.
type Look func(context.Context, jetstream.JetStream) error

// MajorityOf returns a Look at a stream, which has the servers of the log.
func MajorityOf(stream string) Look {
	return func(ctx context.Context, js jetstream.JetStream) error {
		s, err := js.Stream(ctx, stream)
		if err != nil {
			return leaderless(fmt.Errorf("look at stream %s: %w", stream, err))
		}
		return majority(s.CachedInfo().Cluster)
	}
}

// MajorityOfQueue returns a Look at a durable consumer of the log. The account of a role may look
// at its own consumer, and not at the stream, which lists the subjects of everybody's work. A
// consumer that is not there is no fault: the servers could say so.
func MajorityOfQueue(name string) Look {
	return func(ctx context.Context, js jetstream.JetStream) error {
		c, err := js.Consumer(ctx, subject.EventStream, name)
		switch {
		case errors.Is(err, jetstream.ErrConsumerNotFound):
			return nil
		case err != nil:
			return leaderless(fmt.Errorf("look at the queue %s: %w", name, err))
		}
		return majority(c.CachedInfo().Cluster)
	}
}

func majority(c *jetstream.ClusterInfo) error {
	if c == nil {
		return nil
	}
	if c.Leader == "" {
		return ErrNoMajority
	}
	var missing []string
	for _, r := range c.Replicas {
		if r.Offline {
			missing = append(missing, r.Name)
		}
	}
	if all := len(c.Replicas) + 1; 2*(all-len(missing)) <= all {
		return fmt.Errorf("%w: of %d servers %v are away", ErrNoMajority, all, missing)
	}
	return nil
}

// leaderless adds ErrNoMajority to an error of a cluster without a leader.
func leaderless(err error) error {
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && api.ErrorCode == jetStreamAway && !errors.Is(err, ErrNoMajority) {
		return fmt.Errorf("%w: %w", ErrNoMajority, err)
	}
	return err
}

// MajorityEvery is how often a service checks that the server it is connected to
// is one of the majority.
const MajorityEvery = 5 * time.Second

// StayWithMajority keeps the connection of js at a server of the majority, until
// ctx ends. look says whether the servers have one. A server that is cut off from the others keeps its clients, and cannot
// serve them. If two checks in a row find no majority there, and another server of
// the connection has one, the connection moves on. Without any majority, and with
// a single server, nothing changes.
func StayWithMajority(ctx context.Context, js jetstream.JetStream, every time.Duration, look Look) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for missed := 0; ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		nc := js.Conn()
		here := nc.ConnectedAddr()
		if here == "" || hasMajority(ctx, js, every, look) == nil {
			missed = 0
			continue
		}
		if missed++; missed < 2 || !majorityElsewhere(ctx, nc, here, js.Options().APIPrefix, every, look) {
			continue
		}
		missed = 0
		if nc.ConnectedAddr() != here { // it has reconnected by itself
			continue
		}
		if err := nc.ForceReconnect(); err != nil {
			return fmt.Errorf("leave a NATS server that has no majority: %w", err)
		}
	}
}

// hasMajority returns nil if the server that js is connected to has a majority.
func hasMajority(ctx context.Context, js jetstream.JetStream, patience time.Duration, look Look) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return look(ctx, js)
}

// majorityElsewhere reports whether a server of the connection other than here has
// a majority.
func majorityElsewhere(ctx context.Context, nc *nats.Conn, here, prefix string, patience time.Duration, look Look) bool {
	o := probeOptions(nc)
	for _, o.Url = range nc.Servers() {
		if ctx.Err() != nil {
			return false
		}
		there, err := o.Connect()
		if err != nil {
			continue
		}
		js, err := prefixed(there, prefix)
		found := err == nil && there.ConnectedAddr() != here && hasMajority(ctx, js, patience, look) == nil
		there.Close()
		if found {
			return true
		}
	}
	return false
}

// prefixed returns JetStream over a connection. An empty prefix is the server's own.
func prefixed(nc *nats.Conn, prefix string) (jetstream.JetStream, error) {
	if prefix == "" {
		return jetstream.New(nc)
	}
	return jetstream.NewWithAPIPrefix(nc, prefix)
}

// probeOptions returns the options of nc for a connection that is tried once, and
// calls no handlers.
func probeOptions(nc *nats.Conn) nats.Options {
	o := nc.Opts
	o.Servers, o.AllowReconnect, o.RetryOnFailedConnect = nil, false, false
	o.ClosedCB, o.ConnectedCB, o.DisconnectedErrCB, o.DiscoveredServersCB = nil, nil, nil, nil
	if at, err := url.Parse(nc.ConnectedUrl()); err == nil && at.User != nil { // Servers leaves it out
		o.User = at.User.Username()
		if password, ok := at.User.Password(); ok {
			o.Password = password
		} else {
			o.User, o.Token = "", o.User
		}
	}
	return o
}
