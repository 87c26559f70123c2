package wire_test

import (
	"bytes"
	"math"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// everyType is one empty message of each type there is.
func everyType(t *testing.T) []proto.Message {
	var all []proto.Message
	protoregistry.GlobalTypes.RangeMessages(func(m protoreflect.MessageType) bool {
		if m.Descriptor().ParentFile().Package() == "signalbox.v1" {
			all = append(all, m.New().Interface())
		}
		return true
	})
	if len(all) < 50 {
		t.Fatalf("there are only %d types", len(all))
	}
	return all
}

// drawn fills a message with anything, here and there with text that is none and
// with fields of a later build.
func drawn(t *rapid.T, m protoreflect.Message, odd bool) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if !rapid.Bool().Draw(t, "set") {
			continue
		}
		switch {
		case f.IsMap():
			for range rapid.IntRange(1, 3).Draw(t, "entries") {
				m.Mutable(f).Map().Set(drawnValue(t, f.MapKey(), nil, odd).MapKey(), drawnValue(t, f.MapValue(), m.Mutable(f).Map().NewValue, odd))
			}
		case f.IsList():
			for range rapid.IntRange(1, 3).Draw(t, "elements") {
				m.Mutable(f).List().Append(drawnValue(t, f, m.Mutable(f).List().NewElement, odd))
			}
		default:
			m.Set(f, drawnValue(t, f, func() protoreflect.Value { return m.NewField(f) }, odd))
		}
	}
	if m.Descriptor().ParentFile().Package() == "signalbox.v1" && rapid.IntRange(0, 9).Draw(t, "later") == 0 {
		m.SetUnknown(protowire.AppendString(protowire.AppendTag(nil, 9999, protowire.BytesType), "from the future"))
	}
}

func drawnValue(t *rapid.T, f protoreflect.FieldDescriptor, empty func() protoreflect.Value, odd bool) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(rapid.Bool().Draw(t, "bool"))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(rapid.Int32().Draw(t, "int32"))
	case protoreflect.Int64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(rapid.Int64().Draw(t, "int64"))
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(rapid.Uint32().Draw(t, "uint32"))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(rapid.Uint64().Draw(t, "uint64"))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1)})).Draw(t, "double"))
	case protoreflect.StringKind:
		if odd && rapid.IntRange(0, 9).Draw(t, "odd") == 0 {
			return protoreflect.ValueOfString("\xff")
		}
		return protoreflect.ValueOfString(rapid.String().Draw(t, "string"))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	case protoreflect.MessageKind:
		v := empty()
		drawn(t, v.Message(), odd)
		return v
	}
	t.Fatalf("nothing to draw a %s from", f.Kind())
	return protoreflect.Value{}
}

// asProtobuf holds one message, and its bytes, to what protobuf makes of them.
func asProtobuf(t rapid.TB, m proto.Message) {
	t.Helper()
	want, refused := proto.Marshal(m)
	got, err := wire.Marshal(m)
	if (err == nil) != (refused == nil) {
		t.Fatalf("%v is %v, as protobuf has it %v", m, err, refused)
	}
	if err != nil {
		return
	}
	if len(got) != len(want) || (got == nil) != (want == nil) {
		t.Fatalf("%v is %x, as protobuf has it %x", m, got, want)
	}
	if m.ProtoReflect().IsValid() {
		readAlike(t, m, got)
	}
	sole, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if one := m.(interface{ SoleVT() bool }).SoleVT(); one && !bytes.Equal(got, sole) {
		t.Fatalf("%v is %x, as protobuf has it %x", m, got, sole)
	}
}

// readAlike reads bytes into a message that is not empty, in both ways.
func readAlike(t rapid.TB, like proto.Message, data []byte) {
	t.Helper()
	want, got := like.ProtoReflect().New().Interface(), proto.Clone(like)
	if err := proto.Unmarshal(data, want); err != nil {
		_ = wire.Unmarshal(data, got) // it may be less strict about numbers
		return
	}
	forget(want.ProtoReflect())
	err := wire.Unmarshal(data, got)
	if err == nil { // protobuf writes the keys of unknown fields anew, and only those
		again, _ := proto.Marshal(got)
		err = proto.Unmarshal(again, got)
	}
	if err != nil || !proto.Equal(want, got) {
		t.Fatalf("%x is %v and %v, as protobuf has it %v", data, got, err, want)
	}
}

// forget leaves out the fields of times and durations that they do not have.
func forget(m protoreflect.Message) {
	if m.Descriptor().ParentFile().Package() == "google.protobuf" {
		m.SetUnknown(nil)
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil || f.IsMap():
		case f.IsList():
			for i := range v.List().Len() {
				forget(v.List().Get(i).Message())
			}
		default:
			forget(v.Message())
		}
		return true
	})
}

func TestEveryMessageIsAsProtobufHasIt(t *testing.T) {
	for _, m := range everyType(t) {
		t.Run(string(m.ProtoReflect().Descriptor().Name()), func(t *testing.T) {
			asProtobuf(t, m)
			asProtobuf(t, m.ProtoReflect().Type().Zero().Interface()) // nil
			rapid.Check(t, func(t *rapid.T) {
				full := m.ProtoReflect().New()
				drawn(t, full, rapid.IntRange(0, 4).Draw(t, "strange") == 0)
				asProtobuf(t, full.Interface())
			})
		})
	}
}

func TestDamagedMessagesAreReadAsProtobufReadsThem(t *testing.T) {
	all := everyType(t)
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(all).Draw(t, "type").ProtoReflect().New()
		drawn(t, m, false)
		data, err := proto.Marshal(m.Interface())
		if err != nil {
			t.Fatal(err)
		}
		at := rapid.IntRange(0, len(data)).Draw(t, "at")
		switch rapid.IntRange(0, 3).Draw(t, "damage") {
		case 0:
			data = data[:at]
		case 1:
			if at < len(data) {
				data[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			}
		case 2: // all of it twice
			data = append(data, data...)
		case 3:
			data = append(data, rapid.SliceOf(rapid.Byte()).Draw(t, "noise")...)
		}
		readAlike(t, m.Interface(), data)
	})
}

func TestWhatIsNotThereIsAsProtobufHasIt(t *testing.T) {
	for name, m := range map[string]proto.Message{
		"an element of a list":     &pb.Commit{Events: []*pb.Event{nil, {}, nil}},
		"what is chosen":           &pb.Event{Event: &pb.Event_Paused{}},
		"the choice":               &pb.Event{Event: (*pb.Event_Paused)(nil)},
		"a choice in a list":       &pb.Commit{Events: []*pb.Event{{Event: &pb.Event_Opened{}}}},
		"a time":                   &pb.CommandReply{Lease: &timestamppb.Timestamp{}},
		"a value":                  &pb.Result{Data: map[string]string{"": "", "a": ""}},
		"an empty list":            &pb.Result{Questions: []string{}, Data: map[string]string{}},
		"text":                     &pb.Result{Questions: []string{"", ""}},
		"the sign of a zero":       &pb.Result{ConfidenceScore: math.Copysign(0, -1)},
		"a map's order, in a list": &pb.Result{Evidence: []*pb.Evidence{nil, {Data: map[string]string{"a": "b", "c": "d", "e": "f"}}}},
	} {
		t.Run(name, func(t *testing.T) { asProtobuf(t, m) })
	}
}

func TestTextThatIsNoneIsNeitherWrittenNorRead(t *testing.T) {
	bad := "\xc3("
	for name, m := range map[string]proto.Message{
		"text":              &pb.Result{Summary: bad},
		"in a list":         &pb.Result{Questions: []string{"fine", bad}},
		"a key":             &pb.Result{Data: map[string]string{bad: "fine"}},
		"a value":           &pb.Result{Data: map[string]string{"fine": bad}},
		"a key alone":       &pb.Instance{Failures: map[string]int32{bad: 1}},
		"deeper":            &pb.CommandReply{Instance: &pb.Instance{Issue: &pb.Issue{Title: bad}}},
		"in what is chosen": &pb.Command{Action: &pb.Command_Note{Note: &pb.Note{Text: bad}}},
	} {
		t.Run(name, func(t *testing.T) {
			if data, err := wire.Marshal(m); err == nil {
				t.Errorf("written as %x", data)
			}
			data, err := m.(interface{ MarshalVT() ([]byte, error) }).MarshalVT()
			if err != nil {
				t.Fatal(err)
			}
			if err := wire.Unmarshal(data, m); err == nil {
				t.Errorf("read as %v", m)
			}
		})
	}
}

// What has no code of its own is left to protobuf.
func TestAMessageOfAnotherIsEncodedToo(t *testing.T) {
	sent, got := &timestamppb.Timestamp{Seconds: 7}, new(timestamppb.Timestamp)
	data, err := wire.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	if err := wire.Unmarshal(data, got); err != nil || !proto.Equal(sent, got) {
		t.Errorf("it is %v and %v", got, err)
	}
	if data, err := wire.Marshal(nil); data != nil || err != nil {
		t.Errorf("nothing is %x and %v", data, err)
	}
}
