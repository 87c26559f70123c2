package jetstream

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// MajorityEvery is how often a service looks whether the server that it is connected
// to is one of the majority.
const MajorityEvery = 5 * time.Second

// StayWithMajority keeps the connection of js at a server of the majority, until
// ctx ends. A server that was cut off from the others keeps its clients, and has
// nothing to tell them: who finds no majority there in two looks, one every so
// often, and finds it at another server of the connection, goes on to the next.
// Where nobody has a majority, or there is one server only, all stays as it is.
func StayWithMajority(ctx context.Context, js jetstream.JetStream, every time.Duration) error {
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
		if here == "" || look(ctx, js, every) == nil {
			missed = 0
			continue
		}
		if missed++; missed < 2 || !elsewhere(ctx, nc, here, every) {
			continue
		}
		missed = 0
		if nc.ConnectedAddr() != here { // it has left by itself
			continue
		}
		if err := nc.ForceReconnect(); err != nil {
			return fmt.Errorf("leave a NATS server that has no majority: %w", err)
		}
	}
}

func look(ctx context.Context, js jetstream.JetStream, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return Majority(ctx, js)
}

// elsewhere reports whether another of the connection's servers than the one here
// has a majority.
func elsewhere(ctx context.Context, nc *nats.Conn, here string, patience time.Duration) bool {
	o := visitor(nc)
	for _, o.Url = range nc.Servers() {
		if ctx.Err() != nil {
			return false
		}
		there, err := o.Connect()
		if err != nil {
			continue
		}
		js, err := jetstream.New(there)
		found := err == nil && there.ConnectedAddr() != here && look(ctx, js, patience) == nil
		there.Close()
		if found {
			return true
		}
	}
	return false
}

// visitor connects as nc did, but once, and without telling anybody.
func visitor(nc *nats.Conn) nats.Options {
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
