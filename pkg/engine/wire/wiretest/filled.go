package wiretest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/series"
)

// Filled returns a T whose fields each have a value of their own, none of them zero. A
// field that is lost, or that takes another's place, shows.
func Filled[T any]() T {
	var v T
	new(filler).fill(reflect.ValueOf(&v).Elem())
	return v
}

// FilledEvents returns an event of every type, in the order of their names. Every
// field has a value of its own, none of them zero.
func FilledEvents(t testing.TB) []instance.Event {
	t.Helper()
	empty := Events(t)
	all := make([]instance.Event, 0, len(empty))
	for _, name := range slices.Sorted(maps.Keys(empty)) {
		v := reflect.New(reflect.TypeOf(empty[name])).Elem()
		new(filler).fill(v)
		all = append(all, v.Interface().(instance.Event))
	}
	return all
}

type filler struct{ n int64 }

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
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		f.fill(key)
		f.fill(value)
		v.SetMapIndex(key, value)
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
