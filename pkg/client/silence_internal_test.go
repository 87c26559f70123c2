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

// tour is a connection that goes from one server to the next.
type tour struct {
	all   []string
	at    int
	moved []time.Duration // since it began
	began time.Time
}

func (t *tour) ConnectedAddr() string { return t.all[t.at] }
func (t *tour) Servers() []string     { return t.all }

func (t *tour) ForceReconnect() error {
	t.moved = append(t.moved, time.Since(t.began).Round(time.Second))
	t.at = (t.at + 1) % len(t.all)
	return nil
}

// nobody waits for an answer that does not come.
func nobody(ctx context.Context, _ *nats.Msg) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, perTry)
	defer cancel()
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestWhereNobodyAnswersTheConnectionGoesOn(t *testing.T) {
	late := func(context.Context, *nats.Msg) ([]byte, error) { return nil, nats.ErrNoResponders }
	said, err := proto.Marshal(&pb.GetReply{Refusal: &pb.Refusal{Code: "unavailable", Message: "no majority"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		servers []string
		ask     func(*tour) asker
		each    time.Duration // a request gives up
		want    []time.Duration
	}{
		"nobody answers": {[]string{"a", "b", "c"}, func(*tour) asker { return nobody }, time.Hour,
			[]time.Duration{14 * time.Second}},
		"requests that take one try each": {[]string{"a", "b", "c"}, func(*tour) asker { return nobody }, perTry,
			[]time.Duration{14 * time.Second}},
		"nobody listens": {[]string{"a", "b"}, func(*tour) asker { return late }, time.Hour,
			[]time.Duration{14 * time.Second}},
		"requests that give up before an answer can be expected": {[]string{"a", "b"}, func(*tour) asker { return nobody }, time.Second, nil},
		"one server": {[]string{"a"}, func(*tour) asker { return nobody }, time.Hour, nil},
		"an answer that it cannot be done": {[]string{"a", "b"}, func(*tour) asker {
			return func(context.Context, *nats.Msg) ([]byte, error) { return said, nil }
		}, time.Hour, nil},
		"an answer now and then": {[]string{"a", "b"}, func(*tour) asker {
			n := 0
			return func(ctx context.Context, m *nats.Msg) ([]byte, error) {
				if n++; n%3 == 0 {
					return said, nil
				}
				return nobody(ctx, m)
			}
		}, time.Hour, nil},
		"a connection that goes by itself": {[]string{"a", "b", "c"}, func(t *tour) asker {
			n := 0
			return func(ctx context.Context, m *nats.Msg) ([]byte, error) {
				if n++; n%2 == 0 {
					t.at = (t.at + 1) % len(t.all)
				}
				return nobody(ctx, m)
			}
		}, time.Hour, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nc := &tour{all: c.servers, began: time.Now()}
				client := &Client{silence: silence{nc: nc}}
				ask := c.ask(nc)
				for time.Since(nc.began) < 29*time.Second {
					ctx, cancel := context.WithTimeout(t.Context(), min(c.each, 29*time.Second-time.Since(nc.began)))
					err := client.request(ctx, &nats.Msg{}, ask, &pb.GetRequest{}, new(pb.GetReply))
					cancel()
					if err == nil {
						t.Fatal("there is an answer")
					}
				}
				if len(nc.moved) != len(c.want) || len(c.want) > 0 && (nc.moved[0] < c.want[0] || nc.moved[0] > c.want[0]+3*time.Second) { // a pause between tries is 3 s at most
					t.Errorf("the connection went on at %v, want %v", nc.moved, c.want)
				}
			})
		})
	}
}

func TestWhereNobodyAnswersAnywhereTheConnectionGoesRoundSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nc := &tour{all: []string{"a", "b", "c"}, began: time.Now()}
		client := &Client{silence: silence{nc: nc}}
		ask := func(ctx context.Context, m *nats.Msg) ([]byte, error) { return nobody(ctx, m) }
		hour, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := client.request(hour, &nats.Msg{}, ask, &pb.GetRequest{}, new(pb.GetReply)); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if n := len(nc.moved); n < 25 || n > 32 {
			t.Errorf("it went on %d times in an hour: %v", n, nc.moved)
		}
		before := len(nc.moved)
		client.silence.broken()
		began := time.Now()
		soon, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		_ = client.request(soon, &nats.Msg{}, ask, &pb.GetRequest{}, new(pb.GetReply))
		if len(nc.moved) != before+1 || time.Since(began) > 20*time.Second {
			t.Errorf("after an answer it went on %d times in 20 s, want once", len(nc.moved)-before)
		}
	})
}
