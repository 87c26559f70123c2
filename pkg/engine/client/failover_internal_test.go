package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// fakeServers is a connection that moves from one server to the next.
type fakeServers struct {
	all   []string
	at    int             // index of the current one
	moved []time.Duration // when it moved, since began
	began time.Time
}

func (f *fakeServers) ConnectedAddr() string { return f.all[f.at] }
func (f *fakeServers) Servers() []string     { return f.all }

func (f *fakeServers) ForceReconnect() error {
	f.moved = append(f.moved, time.Since(f.began).Round(time.Second))
	f.at = (f.at + 1) % len(f.all)
	return nil
}

// noReply waits for a reply that does not come.
func noReply(ctx context.Context, _ *nats.Msg) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, perTry)
	defer cancel()
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestTheConnectionMovesToTheNextServerWhenNoTryIsRepliedTo(t *testing.T) {
	noResponders := func(context.Context, *nats.Msg) ([]byte, error) { return nil, nats.ErrNoResponders }
	refusal, err := proto.Marshal(&pb.GetReply{Refusal: &pb.Refusal{Code: "unavailable", Message: "no majority"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		servers []string
		ask     func(*fakeServers) sender
		each    time.Duration // timeout of a request
		want    []time.Duration
	}{
		"no reply": {[]string{"a", "b", "c"}, func(*fakeServers) sender { return noReply }, time.Hour,
			[]time.Duration{14 * time.Second}},
		"requests that take one try each": {[]string{"a", "b", "c"}, func(*fakeServers) sender { return noReply }, perTry,
			[]time.Duration{14 * time.Second}},
		"no responders": {[]string{"a", "b"}, func(*fakeServers) sender { return noResponders }, time.Hour,
			[]time.Duration{14 * time.Second}},
		"requests that end before a reply can be expected": {[]string{"a", "b"}, func(*fakeServers) sender { return noReply }, time.Second, nil},
		"one server": {[]string{"a"}, func(*fakeServers) sender { return noReply }, time.Hour, nil},
		"a refusal": {[]string{"a", "b"}, func(*fakeServers) sender {
			return func(context.Context, *nats.Msg) ([]byte, error) { return refusal, nil }
		}, time.Hour, nil},
		"a reply now and then": {[]string{"a", "b"}, func(*fakeServers) sender {
			n := 0
			return func(ctx context.Context, m *nats.Msg) ([]byte, error) {
				if n++; n%3 == 0 {
					return refusal, nil
				}
				return noReply(ctx, m)
			}
		}, time.Hour, nil},
		"a connection that moves by itself": {[]string{"a", "b", "c"}, func(t *fakeServers) sender {
			n := 0
			return func(ctx context.Context, m *nats.Msg) ([]byte, error) {
				if n++; n%2 == 0 {
					t.at = (t.at + 1) % len(t.all)
				}
				return noReply(ctx, m)
			}
		}, time.Hour, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nc := &fakeServers{all: c.servers, began: time.Now()}
				client := &Client{failover: failover{nc: nc}}
				ask := c.ask(nc)
				for time.Since(nc.began) < 29*time.Second {
					ctx, cancel := context.WithTimeout(t.Context(), min(c.each, 29*time.Second-time.Since(nc.began)))
					err := client.request(ctx, &nats.Msg{}, ask, &pb.GetRequest{}, new(pb.GetReply))
					cancel()
					if err == nil {
						t.Fatal("there is a reply")
					}
				}
				if len(nc.moved) != len(c.want) || len(c.want) > 0 &&
					(nc.moved[0] < c.want[0] || nc.moved[0] > c.want[0]+3*time.Second) { // a pause between tries is 3 s at most
					t.Errorf("the connection moved at %v, want %v", nc.moved, c.want)
				}
			})
		})
	}
}

func TestTheConnectionMovesEverMoreSlowlyWhenNoServerHelps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nc := &fakeServers{all: []string{"a", "b", "c"}, began: time.Now()}
		client := &Client{failover: failover{nc: nc}}
		ask := func(ctx context.Context, m *nats.Msg) ([]byte, error) { return noReply(ctx, m) }
		hour, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := client.request(hour, &nats.Msg{}, ask, &pb.GetRequest{}, new(pb.GetReply)); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if n := len(nc.moved); n < 25 || n > 32 {
			t.Errorf("it moved %d times in an hour: %v", n, nc.moved)
		}
		before := len(nc.moved)
		client.failover.noteReply()
		began := time.Now()
		soon, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		_ = client.request(soon, &nats.Msg{}, ask, &pb.GetRequest{}, new(pb.GetReply))
		if len(nc.moved) != before+1 || time.Since(began) > 20*time.Second {
			t.Errorf("after a reply it moved %d times in 20 s, want once", len(nc.moved)-before)
		}
	})
}
