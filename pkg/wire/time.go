package wire

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

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
