// Package wire encodes the domain as protobuf and decodes it: one function each
// way for a message. Nothing is decided here.
package wire

import (
	"math"
	"time"
	"unique"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// name returns a copy of the name of a state, a role, an agent, a lifecycle or a definition
// that many instances share. Instances decoded between two garbage collections hold each
// name once.
func name(s string) string {
	if s == "" {
		return ""
	}
	return unique.Make(s).Value()
}

// Token encodes a fencing token.
func Token(n uint64) uint32 { return u32(n) }

// u32 and i32 return the nearest number that the wire can hold. It keeps to 32
// bits because JSON has no more without becoming text.
func u32[N int | int64 | uint64](n N) uint32 { return uint32(min(max(n, 0), math.MaxUint32)) }
func i32[N int | int64](n N) int32           { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

func each[A, B any](as []A, f func(A) B) []B {
	if len(as) == 0 {
		return nil
	}
	bs := make([]B, len(as))
	for i, a := range as {
		bs[i] = f(a)
	}
	return bs
}

func stamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// Stamp encodes a time; the zero time is none.
func Stamp(t time.Time) *timestamppb.Timestamp { return stamp(t) }

// Time decodes a time; none is the zero time.
func Time(p *timestamppb.Timestamp) time.Time { return toTime(p) }

func toTime(p *timestamppb.Timestamp) time.Time {
	if p == nil {
		return time.Time{}
	}
	return p.AsTime()
}

func span(d time.Duration) *durationpb.Duration {
	if d == 0 {
		return nil
	}
	return durationpb.New(d)
}
