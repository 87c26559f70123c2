package e2e

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/memory"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	"github.com/signalbox/signalbox/pkg/engine/workflow"
	"github.com/signalbox/signalbox/pkg/service/access"
	"github.com/signalbox/signalbox/services/orchestrator/api"
)

// TestTheLinearizabilityCheckFindsWhatIsPlanted serves the API from stores with
// planted faults. The check finds each by the replies alone, and none without a
// fault.
func TestTheLinearizabilityCheckFindsWhatIsPlanted(t *testing.T) {
	for name, lie := range map[string]func(*faultyStore){
		"nothing":                      nil,
		"reads of the past":            func(l *faultyStore) { l.staleReads = true },
		"work given to two":            func(l *faultyStore) { l.doubleClaims = true },
		"a report taken and forgotten": func(l *faultyStore) { l.losesReports = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := natstest.Start(t, natstest.Options{})
			log := memory.New()
			for range 3 {
				l := &faultyStore{Store: log, seen: map[string]eventstore.Commit{}}
				if lie != nil {
					lie(l)
				}
				serveAPI(t, server.Connect(t), l)
			}
			r := &linearLoad{perClient: 120, slots: 3, seed: uint64(intFromEnv(t, "SIGNALBOX_SEED", int(time.Now().UnixNano()%1e6)))}
			for range 6 {
				r.clients = append(r.clients, server.Connect(t))
			}
			r.run(t.Context())
			all, errs := operations(r.sends, nil)
			if lie == nil && len(errs) > 0 {
				t.Errorf("seed %d: the answers contradict each other: %v", r.seed, errs)
			}
			err := errors.Join(checkHistory(all, nil, maxWait)...)
			switch {
			case lie == nil && err != nil:
				t.Errorf("seed %d: %d operations: %v", r.seed, len(all), err)
			case lie == nil:
			case !errors.Is(err, errNotLinearizable):
				t.Errorf("seed %d: of %d operations the check says %v", r.seed, len(all), err)
			default:
				_, file, _ := strings.Cut(err.Error(), "see ")
				if page, err := os.ReadFile(strings.TrimSpace(file)); err != nil || !strings.Contains(string(page), "relay/") && len(page) < 1000 {
					t.Errorf("the picture of it: %d bytes, %v", len(page), err)
				}
				_ = os.Remove(strings.TrimSpace(file))
			}
		})
	}
}

// serveAPI serves the API on a store until the test ends.
func serveAPI(t *testing.T, nc *nats.Conn, log eventstore.Store) {
	t.Helper()
	def, err := workflow.Load("relay.yaml", []byte(relayLifecycle))
	if err != nil {
		t.Fatal(err)
	}
	defs := catalog{workflow.NewCatalog(def)}
	s, err := api.Serve(api.Config{
		Conn: nc, Entry: access.Shared(), Store: log, Definitions: defs, Version: api.Version, Log: slog.New(slog.DiscardHandler),
		Engine: engine.New(engine.Config{Store: log, Definitions: defs, Now: time.Now}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
}

// catalog adapts a workflow.Catalog to the engine and the API.
type catalog struct{ *workflow.Catalog }

func (c catalog) Hashed(_ context.Context, hash string) (*workflow.Definition, error) {
	if d, ok := c.Catalog.Hashed(hash); ok {
		return d, nil
	}
	return nil, fmt.Errorf("%w: %s", workflow.ErrUnknown, hash)
}

func (c catalog) Names() []string { return nil }

func (c catalog) Source(context.Context, string) ([]byte, string, error) {
	return nil, "", workflow.ErrUnknown
}

// faultyStore is a store that breaks its contract.
type faultyStore struct {
	eventstore.Store
	staleReads   bool // Last returns an earlier commit
	doubleClaims bool // a claim is stored despite a conflict
	losesReports bool // some reports are acknowledged and not stored

	mu      sync.Mutex
	seen    map[string]eventstore.Commit
	reads   int
	reports int
}

// Last implements eventstore.Store.
func (l *faultyStore) Last(ctx context.Context, id string) (eventstore.Commit, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	if c, ok := l.seen[id]; ok && l.staleReads && l.reads%3 > 0 {
		return c, nil
	}
	c, err := l.Store.Last(ctx, id)
	if err == nil {
		l.seen[id] = c
	}
	return c, err
}

// Append implements eventstore.Store.
func (l *faultyStore) Append(ctx context.Context, c eventstore.Commit) (uint64, error) {
	did, err := wire.ToCommit(c)
	if err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := did.Events[0].(instance.Reported); ok && l.losesReports {
		if l.reports++; l.reports%5 == 0 {
			head, err := l.Head(ctx)
			return head + 1, err
		}
	}
	c.Seq, err = l.Store.Append(ctx, c)
	if _, ok := did.Events[0].(instance.Claimed); ok && l.doubleClaims && errors.Is(err, eventstore.ErrConflict) {
		last, unknown := l.Store.Last(ctx, c.Instance)
		if unknown != nil {
			return 0, err
		}
		c.Prev = last.Seq
		c.Chain = eventstore.NextChain(last.Chain, c)
		c.Seq, err = l.Store.Append(ctx, c)
	}
	if err == nil {
		l.seen[c.Instance] = c
	}
	return c.Seq, err
}
