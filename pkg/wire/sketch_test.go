package wire_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

func TestASketchTellsWhoItIs(t *testing.T) {
	whole := wire.Live(filled[instance.Instance]())
	whole.Head, whole.Taken, whole.Given = []byte("head"), []uint64{1, 2}, []uint64{3}
	none := wire.Live(instance.Instance{ID: "i-2"})
	block, err := proto.Marshal(&pb.LiveInstances{Instances: []*pb.LiveInstance{whole, none}})
	if err != nil {
		t.Fatal(err)
	}
	var names wire.Names
	all, ok := names.Sketches(block)
	if !ok || len(all) != 2 {
		t.Fatalf("there are %d, %v", len(all), ok)
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

func TestWhatIsNoUsualBlockHasNoSketches(t *testing.T) {
	message := func(number protowire.Number, parts ...[]byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), slices.Concat(parts...))
	}
	id := message(1, []byte("i-1"))
	for name, block := range map[string][]byte{
		"noise":                    {0xff, 0xff},
		"a field that is unknown":  message(2, message(1, id)),
		"an instance without name": message(1, message(5, []byte("head"))),
		"one in two parts":         message(1, message(1, id), message(1, id)),
		"a name that is no text":   message(1, message(1, message(1, []byte{0xff}))),
		"an instance cut short":    message(1, message(1, id)[:3]),
	} {
		var names wire.Names
		if all, ok := names.Sketches(block); ok {
			t.Errorf("%s: %+v", name, all)
		}
	}
	if all, ok := new(wire.Names).Sketches(nil); !ok || len(all) > 0 {
		t.Errorf("of nothing there is %v, %v", all, ok)
	}
}
