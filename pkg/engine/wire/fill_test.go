package wire_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire/wiretest"
)

// events returns one event of each type, every field filled.
func events(t testing.TB) []instance.Event { return wiretest.FilledEvents(t) }

func filled[T any]() T { return wiretest.Filled[T]() }

// unset returns the paths of the fields of a message that are not set.
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
