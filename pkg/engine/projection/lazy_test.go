package projection_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/enginetest"
	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/projection"
	"github.com/signalbox/signalbox/pkg/engine/projection/snapshot"
	"github.com/signalbox/signalbox/pkg/engine/wire"
)

// counted counts how often the log of an instance is read.
type counted struct {
	eventstore.Store
	loads int
}

func (c *counted) Load(ctx context.Context, id string) ([]eventstore.Commit, error) {
	c.loads++
	return c.Store.Load(ctx, id)
}

// sleepers is a past of instances that are at work, and a snapshot that has
// them before the last commit of each.
func sleepers(t *testing.T, n int, lifecycle string) (*enginetest.History, *enginetest.Snapshots) {
	p, s := enginetest.New(t), enginetest.NewSnapshots()
	e := p.Engine(s.Config("log", 1, nil))
	enginetest.Run(t, e, func() {
		all := make([]instance.Instance, n)
		do := func(i int, a instance.Action) {
			p.Commands++
			out, err := e.Handle(t.Context(), instance.Command{ID: fmt.Sprint("command-", p.Commands), Instance: fmt.Sprint("i-", i), Actor: "test", Do: a}, lifecycle)
			if err != nil {
				t.Fatal(err)
			}
			all[i] = out.Instance
		}
		for i := range n {
			do(i, instance.Open{Issue: instance.Issue{Title: fmt.Sprint("the title of ", i)}})
			do(i, instance.Note{Kind: "note", Text: "one"})
		}
		enginetest.Save(t, e)
		do(0, instance.Note{Kind: "note", Text: "two"})
	})
	return p, s
}

// begin follows the log without completing the view.
func begin(t *testing.T, e enginetest.Follower) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	caught, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- e.Follow(ctx, func() { close(caught) }) }()
	t.Cleanup(func() { stop(); <-ended })
	select {
	case <-caught:
	case err := <-ended:
		ended <- err
		t.Fatal(err)
	}
}

func TestAnInstanceIsDecodedWhenItIsAskedFor(t *testing.T) {
	const n = 3*projection.BatchSize + 5
	p, s := sleepers(t, n, "plain")
	log := &counted{Store: p.Store}
	counting := *p
	counting.Store = log
	e := counting.Engine(s.Config("log", 1, func(err error) { t.Errorf("the snapshot is ignored: %v", err) }))
	noted := e.Changes()
	begin(t, e)
	if got := e.Encoded(); got != n-2 { // the tail woke one, and the snapshot's last commit another
		t.Errorf("%d are asleep, want %d", got, n-2)
	}
	if in, ok := e.Known("i-1"); !ok || in.Issue.Title != "the title of 1" {
		t.Errorf("of one it knows %+v", in)
	}
	if in, err := e.Get(t.Context(), "i-2"); err != nil || len(in.Notes) != 1 {
		t.Errorf("of one it has %+v, %v", in, err)
	}
	in, _ := e.Known("i-3")
	take := instance.Claim{Role: "worker", Agent: "agent", Work: in.Work, Lease: time.Hour}
	if _, err := e.Handle(t.Context(), instance.Command{ID: "take", Instance: "i-3", Actor: "test", Do: take}, ""); err != nil {
		t.Error(err)
	}
	again := instance.Open{Issue: instance.Issue{Title: "another"}}
	_, err := e.Handle(t.Context(), instance.Command{ID: "again", Instance: "i-4", Actor: "test", Do: again}, "plain")
	if !errors.As(err, new(*instance.Refusal)) {
		t.Errorf("it was opened once more: %v", err)
	}
	if log.loads > 0 {
		t.Errorf("the log was read %d times", log.loads)
	}
	if err := e.Complete(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := len(noted.Take()); got != n || !e.DecodedAll() {
		t.Errorf("%d of %d are noted, %d asleep", got, n, e.Encoded())
	}
	all, err := e.List(t.Context(), func(instance.Instance) bool { return true })
	if err != nil || len(all) != n {
		t.Errorf("%d are listed, %v", len(all), err)
	}
	whole, _ := project(p, nil)
	enginetest.Run(t, whole, func() {
		if diff := diff(whole, e.Projection); diff != "" {
			t.Errorf("-the whole log +the snapshot and the rest:\n%s", diff)
		}
	})
}

// few and heavy are what one round decodes at most.
const few, heavy = projection.BatchSize, projection.MaxBatchBytes

// While one round of them is decoded, all who ask for any instance wait.
func TestFewInstancesWithALongPastAreWokenAtATime(t *testing.T) {
	for name, c := range map[string]struct {
		n, size int
		rounds  []int // how many are woken in each
	}{
		"none":                       {0, 0, []int{0}},
		"small ones":                 {2*few + 5, 200, []int{few, few, 5, 0}},
		"as many as a round has":     {few, 200, []int{few, 0}},
		"large ones":                 {5, heavy/2 + 1, []int{2, 2, 1, 0}},
		"each larger than a round":   {3, 10 * heavy, []int{1, 1, 1, 0}},
		"a round of exactly so many": {4, heavy / 2, []int{2, 2, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			p := projection.New(projection.Config{})
			all := map[string][]byte{}
			for i := range c.n {
				id := fmt.Sprint("i-", i)
				all[id] = []byte(id + strings.Repeat(".", c.size-len(id)))
			}
			p.InsertEncoded(func(data []byte) string { return strings.TrimRight(string(data), ".") }, all)
			woken, rounds := map[string]bool{}, []int(nil)
			for range c.rounds {
				ids, err := p.DecodeSome()
				if err != nil {
					t.Fatal(err)
				}
				rounds = append(rounds, len(ids))
				for _, id := range ids {
					woken[id] = p.HasLive(id)
				}
			}
			if !slices.Equal(rounds, c.rounds) || len(woken) != c.n {
				t.Errorf("%d are woken, %v at a time, want %d, %v", len(woken), rounds, c.n, c.rounds)
			}
			for id, lives := range woken {
				if !lives {
					t.Errorf("%s is not known", id)
				}
			}
		})
	}
}

func TestWhatAClaimMayChooseFromIsAwake(t *testing.T) {
	p, s := sleepers(t, 5, "ranked")
	e := p.Engine(s.Config("log", 1, nil))
	begin(t, e)
	if got := e.Encoded(); got > 0 {
		t.Errorf("%d are asleep", got)
	}
}

// It cannot be: all of it was encoded by a build that knows the same messages, and
// its checksum held.
func TestWhatCannotBeDecodedIsReadFromTheLog(t *testing.T) {
	p, s := sleepers(t, 5, "plain")
	var why error
	e := p.Engine(s.Config("log", 1, func(err error) { why = err }))
	begin(t, e)
	for _, id := range []string{"i-1", "i-2"} {
		e.SpoilEncoded(id)
	}
	if in, err := e.Get(t.Context(), "i-1"); err != nil || len(in.Notes) != 1 {
		t.Errorf("of one it has %+v, %v", in, err)
	}
	if err := e.Complete(t.Context()); err != nil || !errors.Is(why, snapshot.ErrDamaged) {
		t.Errorf("it is complete, %v, though %v", err, why)
	}
	all, err := e.List(t.Context(), func(in instance.Instance) bool { return len(in.Notes) > 0 })
	if err != nil || len(all) != 5 {
		t.Errorf("%d are listed, %v", len(all), err)
	}
}

// BenchmarkWake is to decode an instance of a snapshot, after so many steps.
func BenchmarkWake(b *testing.B) {
	for _, steps := range []int{8, 1000} {
		b.Run(fmt.Sprintf("after %d steps", steps), func(b *testing.B) {
			s := projection.Empty("i-1")
			s.Instance.State = "on"
			for i := range steps {
				move := instance.Moved{From: "on", To: "on", Owner: "noop"}
				s = s.After(instance.Commit{Seq: uint64(i + 1), ID: fmt.Sprint("command-", i), Events: []instance.Event{move}})
			}
			record := s.Record()
			message := wire.Live(record.Instance)
			message.Head, message.Taken = record.Head[:], record.Commands
			data, err := proto.Marshal(message)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				l, err := snapshot.DecodeLive(data)
				if err != nil || projection.Decoded(l).Instance.Previous.Len() != steps {
					b.Fatal(err)
				}
			}
		})
	}
}
