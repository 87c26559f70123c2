package wire_test

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestAPromiseThatIsKeptIsTheReplyItWouldHaveBeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const older = 3 // a commit before
		seq := rapid.Uint64Range(older+1, 1<<40).Draw(t, "seq")
		brief, moved, dispatched := rapid.Bool().Draw(t, "brief"), rapid.Bool().Draw(t, "moved"), rapid.Bool().Draw(t, "dispatched")
		reply := func(seq uint64) *wire.Taken {
			in := instance.Instance{ID: "a", State: "s", Seq: seq, Entered: older, Work: older, EnteredAt: time.Unix(1, 0), Notes: []instance.NoteEntry{{Text: "n"}}}
			if moved {
				in.Entered = seq
			}
			if dispatched {
				in.Work = seq
			}
			return &wire.Taken{Seq: seq, Token: 5, Told: wire.Tell(in), Brief: brief, Task: wire.NewTask(&pb.Task{About: "about"})}
		}
		promised, ok := reply(0).Encoded()
		if !ok {
			t.Fatal("it cannot be encoded")
		}
		before, whole := len(promised), append(promised, "what lies behind it"...)
		promised = whole[:before]
		kept := string(whole)
		got := new(pb.CommandReply)
		if err := proto.Unmarshal(wire.Kept(promised, seq), got); err != nil || !proto.Equal(got, reply(seq).Message()) {
			t.Fatalf("%v: kept it is\n%v, want\n%v", err, got, reply(seq).Message())
		}
		if string(whole) != kept {
			t.Fatal("the promise was written to, or what lies behind it")
		}
	})
}

func TestPromisesAreWhatTheirMessagesSay(t *testing.T) {
	batch, reply := wire.AppendCommand(nil, nil), wire.AppendAnswer(nil, 1, nil)
	if wire.Promises(batch) || wire.Promise(reply) != "" {
		t.Error("there is a promise")
	}
	p, q := new(pb.Batch), new(pb.BatchReply)
	if err := proto.Unmarshal(wire.AppendPromises(batch), p); err != nil || !p.GetPromises() || len(p.GetCommands()) != 1 || !wire.Promises(wire.AppendPromises(batch)) {
		t.Errorf("a batch: %v (%v)", p, err)
	}
	if err := proto.Unmarshal(wire.AppendPromise(reply, "a.1"), q); err != nil || q.GetPromise() != "a.1" || len(q.GetAnswers()) != 1 || wire.Promise(wire.AppendPromise(reply, "a.1")) != "a.1" {
		t.Errorf("a reply: %v (%v)", q, err)
	}
	for _, data := range []string{"", "\xff", "\x12\x05a", "\x10\x00", `{"promise":"a"}`} {
		if wire.Promises([]byte(data)) || wire.Promise([]byte(data)) != "" {
			t.Errorf("there is a promise in %q", data)
		}
	}
}
