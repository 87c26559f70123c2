package wire_test

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/series"
)

// filler gives every field a value of its own, none of them zero: a field that
// gets lost or takes another's place shows.
type filler struct{ n int64 }

func filled[T any]() T {
	var v T
	new(filler).fill(reflect.ValueOf(&v).Elem())
	return v
}

func (f *filler) fill(v reflect.Value) {
	f.n++
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, int(f.n), time.UTC)))
		return
	case v.Type() == reflect.TypeFor[time.Duration]():
		v.SetInt(f.n * int64(time.Millisecond))
		return
	case v.Type() == reflect.TypeFor[instance.Past]():
		v.Set(reflect.ValueOf(series.New(fmt.Sprint("text ", f.n), fmt.Sprint("text and ", f.n))))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(f.n)
	case reflect.Uint64:
		v.SetUint(uint64(f.n))
	case reflect.Float64:
		v.SetFloat(float64(f.n) + 0.5)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", f.n))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0))
		f.fill(v.Index(1))
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]string{fmt.Sprint("key ", f.n): "value"}))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i))
		}
	default:
		panic("nothing to fill a " + v.Type().String() + " with")
	}
}

// unset lists the fields of a message that nobody set, by their path.
func unset(m protoreflect.Message, path string) []string {
	var missing []string
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		name := path + string(f.Name())
		switch {
		case f.ContainingOneof() != nil && m.WhichOneof(f.ContainingOneof()) != f:
		case !m.Has(f):
			missing = append(missing, name)
		case f.IsMap(), f.Message() == nil, f.Message().ParentFile().Package() == "google.protobuf":
		case f.IsList():
			missing = append(missing, unset(m.Get(f).List().Get(0).Message(), name+".")...)
		default:
			missing = append(missing, unset(m.Get(f).Message(), name+".")...)
		}
	}
	return missing
}

// within draws values that the wire can hold.
func within[T any]() *rapid.Generator[T] {
	return rapid.MakeCustom[T](rapid.MakeConfig{
		Types: map[reflect.Type]*rapid.Generator[any]{
			reflect.TypeFor[time.Time](): rapid.Map(rapid.Int64Range(-1<<40, 1<<60), func(n int64) time.Time { return time.Unix(0, n).UTC() }).AsAny(),
		},
		Kinds: map[reflect.Kind]*rapid.Generator[any]{
			reflect.Int:    rapid.IntRange(math.MinInt32, math.MaxInt32).AsAny(),
			reflect.Int64:  rapid.Int64Range(0, math.MaxInt32).AsAny(),
			reflect.Uint64: rapid.Uint64Range(0, math.MaxUint32).AsAny(),
		},
	})
}

// alike compares what went over the wire: it does not tell empty from nil.
func alike[T any](t rapid.TB, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("-sent +received:\n%s", diff)
	}
}

func missing(t *testing.T, m interface{ ProtoReflect() protoreflect.Message }) {
	t.Helper()
	if names := unset(m.ProtoReflect(), ""); len(names) > 0 {
		t.Errorf("%s leaves out %v", m.ProtoReflect().Descriptor().Name(), names)
	}
}

// events is one of each type, every field filled.
func events() []instance.Event {
	return []instance.Event{
		filled[instance.Opened](), filled[instance.Claimed](), filled[instance.LeaseExtended](), filled[instance.Released](),
		filled[instance.Reported](), filled[instance.ProposalRefused](), filled[instance.GateRefused](), filled[instance.LoopDetected](),
		filled[instance.Moved](), filled[instance.Dispatched](), filled[instance.Signalled](), filled[instance.Asked](),
		filled[instance.Answered](), filled[instance.Noted](), filled[instance.Spent](), filled[instance.Paused](),
		filled[instance.Resumed](), filled[instance.CancelledBy](), filled[instance.Handed](), filled[instance.Escalated](),
		filled[instance.Resolved](), filled[instance.Remembered](), filled[instance.ParkedUntil](), filled[instance.Woken](),
		filled[instance.TimedOut](), filled[instance.Spawned](), filled[instance.LinkEnded](), filled[instance.Migrated](),
	}
}
