package wire_test

import (
	"bytes"
	"math"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

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
	in.Spend = instance.Cost{TokensIn: math.MaxInt64, TokensOut: 1 << 40, USD: 0.1, WallMS: 1 << 50}
	var names wire.Names
	alike(t, in, names.ToLive(sent(t, wire.Live(in), &pb.LiveInstance{})))
	alike(t, instance.Instance{}, names.ToLive(sent(t, wire.Live(instance.Instance{}), &pb.LiveInstance{})))
}

func TestTheOutlineOfAnEndedInstanceIsKept(t *testing.T) {
	in := filled[instance.Instance]()
	in.Visits[0].State = in.State
	var names wire.Names
	got := names.ToEnded(sent(t, wire.Ending(in), &pb.Ending{}), sent(t, wire.Ended(in), &pb.EndedInstance{}))
	in.Claim = nil // what ended, nobody works on
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

func TestNamesAreSharedUpToALimit(t *testing.T) {
	var names wire.Names
	long := string(make([]byte, 1000))
	for _, name := range []string{"", "todo", long} {
		if got := names.Of(name); got != name {
			t.Errorf("%q became %q", name, got)
		}
	}
	for n := range 20000 {
		if name := string(rune(n + 1)); names.Of(name) != name {
			t.Fatalf("%q became another", name)
		}
	}
}
