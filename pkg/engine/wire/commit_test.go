package wire_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/eventstore"
	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func stored(data []byte) eventstore.Commit {
	return eventstore.Commit{Seq: 7, Prev: 5, ID: "c-1", Workflow: "issue", State: "received", Instance: "acme/widgets/42", Wakes: true,
		Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Data: data, Chain: "abc"}
}

func roundTrip(t rapid.TB, sent []instance.Event) []instance.Event {
	t.Helper()
	data, err := wire.Events("ann", sent)
	if err != nil {
		t.Fatal(err)
	}
	c, err := wire.ToCommit(stored(data))
	if err != nil {
		t.Fatal(err)
	}
	return c.Events
}

func TestEveryEventSurvivesTheWire(t *testing.T) {
	for _, sent := range events(t) {
		t.Run(fmt.Sprintf("%T", sent), func(t *testing.T) {
			alike(t, []instance.Event{sent}, roundTrip(t, []instance.Event{sent}))
			data, err := wire.Events("ann", []instance.Event{sent})
			if err != nil {
				t.Fatal(err)
			}
			body := new(pb.Commit)
			if err := proto.Unmarshal(data, body); err != nil {
				t.Fatal(err)
			}
			missing(t, body)
		})
	}
}

// The core has no event that the wire has not: events are made from the wire's list.
func TestNoEventIsWithoutAWireForm(t *testing.T) {
	files, err := filepath.Glob("../instance/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var declared, tested []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "apply" && f.Recv != nil {
				declared = append(declared, f.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
	}
	for _, e := range events(t) {
		tested = append(tested, reflect.TypeOf(e).Name())
	}
	slices.Sort(declared)
	slices.Sort(tested)
	alike(t, declared, tested)
}

func TestAnyEventsSurviveTheWire(t *testing.T) {
	some := rapid.SliceOf(rapid.OneOf(
		within[instance.Opened]().AsAny(), within[instance.Claimed]().AsAny(), within[instance.Released]().AsAny(), within[instance.Reported]().AsAny(),
		within[instance.LoopDetected]().AsAny(), within[instance.Moved]().AsAny(), within[instance.Signalled]().AsAny(), within[instance.Asked]().AsAny(),
		within[instance.Answered]().AsAny(), within[instance.Spent]().AsAny(), within[instance.Escalated]().AsAny(), within[instance.Remembered]().AsAny(),
		within[instance.ParkedUntil]().AsAny(), within[instance.TimedOut]().AsAny(), within[instance.LinkEnded]().AsAny(), within[instance.Migrated]().AsAny()))
	rapid.Check(t, func(t *rapid.T) {
		var sent []instance.Event
		for _, e := range some.Draw(t, "events") {
			sent = append(sent, e.(instance.Event))
		}
		alike(t, sent, roundTrip(t, sent))
	})
}

func TestACommitCarriesItsHeaders(t *testing.T) {
	data, err := wire.Events("ann", events(t)[:1])
	if err != nil {
		t.Fatal(err)
	}
	s := stored(data)
	c, err := wire.ToCommit(s)
	if err != nil {
		t.Fatal(err)
	}
	alike(t, instance.Commit{Seq: 7, ID: "c-1", At: s.Time, Actor: "ann", Events: events(t)[:1]}, c)

	r, err := wire.Record(s)
	if err != nil {
		t.Fatal(err)
	}
	missing(t, r)
	alike(t, events(t)[:1], wire.ToEvents(r.Commit))
	if r.Seq != 7 || r.Prev != 5 || r.Id != "c-1" || !r.Time.AsTime().Equal(s.Time) || r.Workflow != "issue" || r.State != "received" || r.Chain != "abc" {
		t.Errorf("record %v of %+v", r, s)
	}
}

// Equal commits have equal bytes: they are chained by hash.
func TestTheSameEventsAreTheSameBytes(t *testing.T) {
	signal := instance.Signalled{Data: map[string]string{}}
	for i := range 50 {
		signal.Data[fmt.Sprint(i)] = "x"
	}
	first, err := wire.Events("ann", []instance.Event{signal})
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if again, err := wire.Events("ann", []instance.Event{signal}); err != nil || string(again) != string(first) {
			t.Fatalf("other bytes, %v", err)
		}
	}
}

func TestAnEventOfALaterBuildIsLeftOut(t *testing.T) {
	later := protowire.AppendTag(nil, 99, protowire.BytesType)
	later = protowire.AppendBytes(later, []byte("from the future"))
	sent := &pb.Commit{Actor: "ann", Events: []*pb.Event{{}, {}, {Event: &pb.Event_Paused{Paused: &pb.Paused{Reason: "known"}}}}}
	sent.Events[0].ProtoReflect().SetUnknown(later)
	data, err := proto.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	c, err := wire.ToCommit(stored(data))
	if err != nil {
		t.Fatal(err)
	}
	alike(t, []instance.Event{instance.Paused{Reason: "known"}}, c.Events)
	r, err := wire.Record(stored(data))
	if err != nil {
		t.Fatal(err)
	}
	alike(t, c.Events, wire.ToEvents(r.Commit))
}

func TestDamagedBytesAreCorrupt(t *testing.T) {
	data, err := wire.Events("ann", events(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string][]byte{"cut short": data[:len(data)-1], "noise": []byte("\xff\xff\xff"), "text that is none": []byte("\x0a\x01\xff")} {
		t.Run(name, func(t *testing.T) {
			_, err := wire.ToCommit(stored(damaged))
			_, recordErr := wire.Record(stored(damaged))
			for _, err := range []error{err, recordErr} {
				if !errors.Is(err, eventstore.ErrCorrupt) || !strings.Contains(err.Error(), "commit 7 of acme/widgets/42") {
					t.Errorf("error %v, want ErrCorrupt with the commit's name", err)
				}
			}
		})
	}
}

// future is an event that nobody gave a wire form.
type future struct{ instance.Event }

func TestWhatCannotBeReadBackIsNotStored(t *testing.T) {
	for name, e := range map[string]instance.Event{"an unknown event": future{}, "no event": nil, "text that is none": instance.Noted{Text: "\xff"}} {
		t.Run(name, func(t *testing.T) {
			if data, err := wire.Events("ann", []instance.Event{instance.Noted{Text: "fine"}, e}); err == nil {
				t.Errorf("encoded as %q", data)
			}
		})
	}
	if data, err := wire.Events("\xff", nil); err == nil {
		t.Errorf("an actor that is no text is encoded as %q", data)
	}
}

// Whatever the bytes are, they are events or ErrCorrupt; and what was read
// can be folded, written and read again.
func FuzzToCommit(f *testing.F) {
	for _, e := range events(f) {
		data, err := wire.Events("ann", []instance.Event{e})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := wire.ToCommit(stored(data))
		if err != nil {
			if !errors.Is(err, eventstore.ErrCorrupt) {
				t.Errorf("error %v, want ErrCorrupt", err)
			}
			return
		}
		in := instance.Evolve(instance.Instance{ID: c.ID}, c)
		wire.FullView(in)
		wire.Summary(in)
		alike(t, c.Events, roundTrip(t, c.Events))
	})
}
