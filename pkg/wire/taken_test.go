package wire_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// What is encoded without its message says what the message says.
func TestAReplyIsTheSameHoweverItIsEncoded(t *testing.T) {
	same := func(t rapid.TB, reply wire.Taken) {
		t.Helper()
		want := reply.Message()
		_, wrong := proto.Marshal(want)
		data, ok := reply.Encoded()
		if ok != (wrong == nil) {
			t.Fatalf("encoded: %v, but %v", ok, wrong)
		}
		got := new(pb.CommandReply)
		if err := proto.Unmarshal(data, got); ok && (err != nil || !proto.Equal(got, want)) {
			t.Fatalf("%v: it is\n%v, want\n%v", err, got, want)
		}
	}
	task := wire.NewTask(&pb.Task{About: "about", Next: []string{"a", "b"}, Policy: map[string]string{"k": "v", "l": "w"}, Writes: []string{"x"}})
	all := filled[wire.Told]()
	for _, brief := range []bool{false, true} {
		same(t, wire.Taken{Told: all, Brief: brief, Task: task})
		alone(all, func(told any) { same(t, wire.Taken{Seq: 1, Told: told.(wire.Told), Brief: brief}) })
		alone(all.Instance, func(in any) {
			same(t, wire.Taken{Token: 1, Lease: time.Unix(1, 0), Told: wire.Tell(in.(instance.Instance)), Brief: brief})
			same(t, wire.Taken{Duplicate: true, Told: wire.Job(in.(instance.Instance), 1), Brief: brief})
		})
		same(t, wire.Taken{Told: wire.Tell(instance.Instance{ID: "\xff"}), Brief: brief})
	}
	same(t, wire.Taken{Task: wire.NewTask(&pb.Task{About: "\xff"})})

	// Each field is in one of the two.
	if names := unset((&wire.Taken{Seq: 1, Duplicate: true, Token: 1, Lease: time.Unix(1, 0), Told: all, Task: task}).Message().ProtoReflect(), ""); !slices.Equal(names, []string{"task.question", "refusal", "lease_left"}) {
		t.Errorf("a reply leaves out %v", names)
	}

	times := rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(rapid.Int64Range(-1<<35, 1<<37).Draw(t, "s"), rapid.Int64Range(0, 1e9-1).Draw(t, "ns"))
	})
	rapid.Check(t, func(t *rapid.T) {
		r := within[instance.Result]().Draw(t, "result")
		if rapid.Bool().Draw(t, "plain") {
			r = instance.Result{Status: "success", Summary: strings.Repeat("x", rapid.IntRange(0, 300).Draw(t, "long"))}
		}
		in := instance.Instance{
			ID: rapid.String().Draw(t, "id"), EnteredAt: times.Draw(t, "entered"), Timeout: time.Duration(rapid.Int64().Draw(t, "timeout")), Last: &r,
			Issue: within[instance.Issue]().Draw(t, "issue"), Visits: rapid.SliceOf(within[instance.Visit]()).Draw(t, "visits"), Iteration: rapid.Int().Draw(t, "iteration"),
			Vars: rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "vars"), Notes: rapid.SliceOf(within[instance.NoteEntry]()).Draw(t, "notes"),
			Claim: &instance.ActiveClaim{Token: rapid.Uint64().Draw(t, "token"), At: times.Draw(t, "at"), Lease: times.Draw(t, "lease")},
		}
		told := wire.Tell(in)
		told.Stay, told.Total = time.Duration(rapid.Int64().Draw(t, "stay")), time.Duration(rapid.Int64().Draw(t, "total"))
		same(t, wire.Taken{Seq: rapid.Uint64().Draw(t, "seq"), Token: rapid.Uint64().Draw(t, "token"), Lease: times.Draw(t, "lease"), Told: told})
	})
}
