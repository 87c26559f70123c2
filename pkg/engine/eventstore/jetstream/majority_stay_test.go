package jetstream_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/testkit/faultproxy"
)

// lonely is a server of a cluster of which nobody else is there.
func lonely(t *testing.T) *natstest.Server {
	t.Helper()
	return natstest.Start(t, natstest.Options{Change: func(o *server.Options) {
		o.Cluster = server.ClusterOpts{Name: "lonely", Host: "127.0.0.1", Port: server.RANDOM_PORT}
		o.Routes = []*url.URL{{Scheme: "nats", Host: "127.0.0.1:1"}, {Scheme: "nats", Host: "127.0.0.1:2"}}
	}})
}

// stay connects to the first of urls and has StayWithMajority look after the
// connection.
func stay(t *testing.T, urls ...string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(strings.Join(urls, ","), nats.DontRandomize(), nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := natsjs.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- jetstream.StayWithMajority(ctx, js, time.Second/2, jetstream.Majority) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return nc
}

func TestWhoIsCutOffGoesWhereAMajorityIs(t *testing.T) {
	home := natstest.Start(t, natstest.Options{})
	store, err := jetstream.Open(t.Context(), home.JetStream(t), jetstream.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close(context.Background()) })
	nc := stay(t, lonely(t).URL, lonely(t).URL, home.URL)
	again(t, func(ctx context.Context) error {
		js, err := natsjs.New(nc)
		if err != nil {
			return err
		}
		return jetstream.Majority(ctx, js)
	})
	if nc.ConnectedUrl() != home.URL {
		t.Errorf("connected to %s, want %s", nc.ConnectedUrl(), home.URL)
	}
}

func TestWhereNobodyHasAMajorityEverybodyStays(t *testing.T) {
	here, other := lonely(t), lonely(t)
	visits := faultproxy.Start(t, strings.TrimPrefix(other.URL, "nats://"))
	nc := stay(t, here.URL, "nats://"+visits.Addr())
	js, err := natsjs.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	again(t, func(ctx context.Context) error {
		if err := jetstream.Majority(ctx, js); err == nil {
			t.Fatal("a server without the others of its cluster has a majority")
		}
		if n := visits.Stats().Connections; n < 3 {
			return fmt.Errorf("it looked at another server %d times, want 3", n)
		}
		return ctx.Err()
	})
	if n := nc.Stats().Reconnects; n > 0 || nc.ConnectedUrl() != here.URL {
		t.Errorf("connected to %s after %d reconnects, want %s", nc.ConnectedUrl(), n, here.URL)
	}
}
