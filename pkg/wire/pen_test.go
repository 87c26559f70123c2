package wire_test

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/wire"
)

// alone calls f with a copy of a struct for each of its fields, which has only that one.
func alone(all any, f func(any)) {
	v := reflect.ValueOf(all)
	for i := range v.NumField() {
		one := reflect.New(v.Type()).Elem()
		one.Field(i).Set(v.Field(i))
		f(one.Interface())
	}
}

// The log is the same to the byte, whichever way it is written.
func TestACommitIsWrittenAsProtobufDoes(t *testing.T) {
	same := func(t rapid.TB, actor string, all ...instance.Event) {
		t.Helper()
		want, wrong := wire.Made(actor, all)
		got, err := wire.Events(actor, all)
		if (err == nil) != (wrong == nil) {
			t.Fatalf("%#v: %v, want %v", all, err, wrong)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%#v is\n%x, want\n%x", all, got, want)
		}
	}
	for _, e := range events() {
		same(t, "ann", e)
		same(t, "", reflect.Zero(reflect.TypeOf(e)).Interface().(instance.Event), e)
		alone(e, func(e any) { same(t, "ann", e.(instance.Event)) })
	}
	alone(filled[instance.Result](), func(r any) { same(t, "ann", instance.Reported{Result: r.(instance.Result)}) })
	same(t, "ann")
	same(t, "\xff")
	same(t, "ann", nil)
	// Where a length begins to take one byte more, and the next one.
	for _, n := range []int{1<<7 - 3, 1<<7 - 2, 1<<7 - 1, 1 << 7, 1<<14 - 4, 1<<14 - 1, 1 << 14, 1 << 21} {
		same(t, "ann", instance.Moved{Reason: strings.Repeat("x", n)}, instance.Dispatched{State: "todo"})
	}

	text := rapid.OneOf(rapid.String(), rapid.Just("\xc3"), rapid.StringN(100, 200, -1))
	when := rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(rapid.Int64Range(-1<<36, 1<<37).Draw(t, "seconds"), rapid.SampledFrom([]int64{0, 1, 999_999_999}).Draw(t, "nanos"))
	})
	plain := rapid.Custom(func(t *rapid.T) any {
		r := instance.Result{
			Status: instance.Success, ConfidenceScore: rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, math.NaN()}).Draw(t, "confidence"),
			IssuesFound: rapid.SliceOf(text).Draw(t, "issues"), Summary: text.Draw(t, "summary"), Head: "c1", Next: "done",
			Spend: instance.Cost{WallMS: rapid.Int64().Draw(t, "wall"), USD: rapid.Float64().Draw(t, "usd")},
		}
		return instance.Reported{Token: rapid.Uint64().Draw(t, "token"), Role: "worker", State: "todo", Result: r, Question: rapid.Int().Draw(t, "question")}
	})
	claimed := rapid.Custom(func(t *rapid.T) any {
		return instance.Claimed{Token: 3, Agent: text.Draw(t, "agent"), Lease: when.Draw(t, "lease"), Direct: rapid.Bool().Draw(t, "direct")}
	})
	moved := rapid.Custom(func(t *rapid.T) any {
		return instance.Moved{To: text.Draw(t, "to"), Timeout: time.Duration(rapid.Int64().Draw(t, "timeout")), Cites: rapid.SliceOf(text).Draw(t, "cites")}
	})
	some := rapid.OneOf(plain, claimed, moved,
		within[instance.Opened]().AsAny(), within[instance.Claimed]().AsAny(), within[instance.LeaseExtended]().AsAny(), within[instance.Reported]().AsAny(),
		within[instance.Moved]().AsAny(), within[instance.Dispatched]().AsAny(), within[instance.Noted]().AsAny(), within[instance.Signalled]().AsAny())
	rapid.Check(t, func(t *rapid.T) {
		var all []instance.Event
		for _, e := range rapid.SliceOf(some).Draw(t, "events") {
			all = append(all, e.(instance.Event))
		}
		same(t, text.Draw(t, "actor"), all...)
	})
}
