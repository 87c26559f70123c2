package wire_test

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func marshal(t *rapid.T, m proto.Message) []byte {
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestABatchIsWhatItsMessageSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOf(rapid.StringMatching(`[a-z]{0,5}`)).Draw(t, "ids")
		var all [][]byte
		want := new(pb.Batch)
		for _, id := range ids {
			c := &pb.Command{Id: id}
			want.Commands = append(want.Commands, c)
			all = append(all, marshal(t, c))
		}
		got := new(pb.Batch)
		if err := proto.Unmarshal(wire.Batch(all...), got); err != nil || !proto.Equal(got, want) {
			t.Fatalf("%v, want %v (%v)", got, want, err)
		}
		commands, err := wire.Commands(marshal(t, want))
		if err != nil || len(commands) != len(ids) {
			t.Fatalf("%d commands, want %d (%v)", len(commands), len(ids), err)
		}
		for i, data := range commands {
			c := new(pb.Command)
			if err := proto.Unmarshal(data, c); err != nil || c.GetId() != ids[i] {
				t.Fatalf("%v, want %s (%v)", c, ids[i], err)
			}
		}
	})
}

func TestABatchReplyIsWhatItsMessageSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seqs := rapid.MapOf(rapid.Uint32Range(0, 1<<20), rapid.Uint64()).Draw(t, "answers")
		var all []wire.Answer
		want := new(pb.BatchReply)
		for number, seq := range seqs {
			reply := &pb.CommandReply{Seq: seq}
			want.Answers = append(want.Answers, &pb.BatchAnswer{Number: number, Reply: reply})
			all = append(all, wire.Answer{Number: int(number), Reply: marshal(t, reply)})
		}
		got := new(pb.BatchReply)
		if err := proto.Unmarshal(wire.BatchReply(all...), got); err != nil || !proto.Equal(got, want) {
			t.Fatalf("%v, want %v (%v)", got, want, err)
		}
		n := 0
		err := wire.Answers(marshal(t, want), func(number uint64, data []byte) {
			n++
			reply := new(pb.CommandReply)
			if err := proto.Unmarshal(data, reply); err != nil || reply.GetSeq() != seqs[uint32(number)] {
				t.Fatalf("%d: %v (%v)", number, reply, err)
			}
		})
		if err != nil || n != len(seqs) {
			t.Fatalf("%d answers, want %d (%v)", n, len(seqs), err)
		}
	})
}

func TestWhatIsNoBatchIsRefused(t *testing.T) {
	for name, data := range map[string]string{"cut off": "\x0a\x05ab", "no tag": "\xff", "text": `{"commands":[]}`} {
		if _, err := wire.Commands([]byte(data)); !errors.Is(err, wire.ErrBatch) {
			t.Errorf("%s: %v, want ErrBatch", name, err)
		}
		if err := wire.Answers([]byte(data), func(uint64, []byte) {}); !errors.Is(err, wire.ErrBatch) {
			t.Errorf("%s: %v, want ErrBatch", name, err)
		}
	}
	if err := wire.Answers([]byte("\x0a\x02\x12\x05"), func(uint64, []byte) { t.Error("half an answer was read") }); !errors.Is(err, wire.ErrBatch) {
		t.Errorf("half an answer: %v, want ErrBatch", err)
	}
}
