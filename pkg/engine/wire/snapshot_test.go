package wire_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/verdict"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// sent returns from as it is decoded into to.
func sent[M proto.Message](t *testing.T, from, to M) M {
	t.Helper()
	data, err := proto.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(data, to); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestNothingOfALiveInstanceIsLost(t *testing.T) {
	in := filled[instance.Instance]()
	in.Spend = instance.Total{TokensIn: math.MaxInt64, TokensOut: 1 << 40, USD: 0.1, WallMS: 1 << 50}
	alike(t, in, wire.ToLive(sent(t, wire.Live(in), &pb.LiveInstance{})))
	alike(t, instance.Instance{}, wire.ToLive(sent(t, wire.Live(instance.Instance{}), &pb.LiveInstance{})))
}

func TestTheSummaryOfAnEndedInstanceIsKept(t *testing.T) {
	in := filled[instance.Instance]()
	in.Visits[0].State = in.State
	in.Evidence[0].Commit, in.Evidence[0].Judgement.Kind = in.Head, verdict.Documents
	got := wire.ToEnded(sent(t, wire.Ending(in), &pb.Ending{}), sent(t, wire.Ended(in), &pb.EndedInstance{}))
	in.Claim = nil // nobody works on what ended
	if want, got := wire.Summary(in), wire.Summary(got); !proto.Equal(want, got) {
		t.Errorf("a line of a list says %v, want %v", got, want)
	}
	alike(t, in.Links, got.Links)
	if got.Definition != in.Definition || got.Failed != in.Failed || !got.UpdatedAt.Equal(in.UpdatedAt) {
		t.Errorf("it is %+v", got)
	}
	missing(t, wire.Ending(in))
}

func TestTheSchemaIsTheSameAtEachCall(t *testing.T) {
	if a, b := wire.Schema(), wire.Schema(); len(a) != 32 || !bytes.Equal(a, b) {
		t.Errorf("it is %x, and then %x", a, b)
	}
}

func TestAHeaderSaysWhichInstanceItIs(t *testing.T) {
	whole := wire.Live(filled[instance.Instance]())
	whole.Head, whole.Taken, whole.Given = []byte("head"), []uint64{1, 2}, []uint64{3}
	none := wire.Live(instance.Instance{ID: "i-2"})
	block, err := proto.Marshal(&pb.LiveInstances{Instances: []*pb.LiveInstance{whole, none}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := wire.Headers(block)
	if err != nil || len(all) != 2 {
		t.Fatalf("there are %d, %v", len(all), err)
	}
	for i, want := range []*pb.LiveInstance{whole, none} {
		got := all[i]
		if got.ID != want.Instance.Instance || got.Definition != want.Instance.Definition || got.Given != (want.Given != nil) {
			t.Errorf("it is of %+v, want %v", got, want)
		}
		if one := (&pb.LiveInstance{}); proto.Unmarshal(got.Encoded, one) != nil || !proto.Equal(one, want) {
			t.Errorf("it holds %v, want %v", one, want)
		}
	}
}

func field(number protowire.Number, parts ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), slices.Concat(parts...))
}

func TestADamagedBlockHasNoHeaders(t *testing.T) {
	id := field(1, []byte("i-1"))
	for name, block := range map[string][]byte{
		"noise":                      {0xff, 0xff},
		"an instance without an id":  field(1, field(5, []byte("head"))),
		"an id that is not UTF-8":    field(1, field(1, field(1, []byte{0xff}))),
		"an instance that is cut":    field(1, field(1, id)[:3]),
		"a block that ends too soon": field(1, field(1, id))[:4],
	} {
		if all, err := wire.Headers(block); err == nil {
			t.Errorf("%s: %+v", name, all)
		}
	}
	if all, err := wire.Headers(nil); err != nil || len(all) > 0 {
		t.Errorf("of nothing there is %v, %v", all, err)
	}
}

// A header is decoded as the whole instance is: unknown fields are skipped, and
// parts that come twice are merged.
func TestAHeaderIsReadAsTheWholeIs(t *testing.T) {
	one := slices.Concat(field(1, field(1, []byte("i-1"))), field(1, field(3, []byte("d"))), field(77, []byte("later")))
	block := slices.Concat(field(1, one), field(78, []byte("later")))
	all, err := wire.Headers(block)
	if err != nil || len(all) != 1 || all[0].ID != "i-1" || all[0].Definition != "d" {
		t.Errorf("the header is %+v, %v", all, err)
	}
}

// Where a message has another with parts left encoded, both have the same fields.
func TestEncodedFormsHaveTheFieldsOfWhatTheyStandFor(t *testing.T) {
	for _, c := range []struct{ encoded, whole proto.Message }{
		{&pb.EncodedBatch{}, &pb.Batch{}},
		{&pb.EncodedBatchReply{}, &pb.BatchReply{}},
		{&pb.EncodedBatchAnswer{}, &pb.BatchAnswer{}},
		{&pb.EncodedInstances{}, &pb.LiveInstances{}},
		{&pb.LiveHeader{}, &pb.LiveInstance{}},
		{&pb.InstanceHeader{}, &pb.Instance{}},
	} {
		whole, fields := c.whole.ProtoReflect().Descriptor().Fields(), c.encoded.ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			f := fields.Get(i)
			w := whole.ByName(f.Name())
			if w == nil || w.Number() != f.Number() || w.Cardinality() != f.Cardinality() ||
				w.Kind() != f.Kind() && (w.Kind() != protoreflect.MessageKind || f.Kind() != protoreflect.BytesKind) {
				t.Errorf("%s is not as in %s", f.FullName(), c.whole.ProtoReflect().Descriptor().Name())
			}
		}
	}
}
