package wire

import (
	"math"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/instance"
	"github.com/signalbox/signalbox/pkg/workflow"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// quick decodes the events that most of a log consists of without their
// messages in between: a replay is mostly decoding. Whatever is out of the
// ordinary spoils it, and is left to protobuf.
type quick struct {
	names   *Names
	spoiled bool
}

// commit decodes the body of a commit; ok is false if that is left to protobuf.
func (q *quick) commit(data []byte) (actor string, events []instance.Event, ok bool) {
	events = make([]instance.Event, 0, 4)
	for f := q.fields(data); f.more(); {
		switch f.key {
		case 1<<3 | text:
			actor = q.name(f.bytes)
		case 2<<3 | text:
			if e := q.event(f.bytes); e != nil {
				events = append(events, e)
			}
		default:
			q.spoiled = true
		}
	}
	if len(events) == 0 {
		events = nil
	}
	return actor, events, !q.spoiled
}

func (q *quick) event(data []byte) instance.Event {
	f := q.fields(data)
	if !f.more() || len(f.rest) > 0 { // none, or it would be the last of several
		q.spoiled = true
		return nil
	}
	switch f.key {
	case 1<<3 | text:
		return q.opened(f.bytes)
	case 2<<3 | text:
		return q.claimed(f.bytes)
	case 3<<3 | text:
		return q.extended(f.bytes)
	case 5<<3 | text:
		return q.reported(f.bytes)
	case 9<<3 | text:
		return q.moved(f.bytes)
	case 10<<3 | text:
		return q.dispatched(f.bytes)
	case 14<<3 | text:
		return q.noted(f.bytes)
	}
	q.spoiled = true
	return nil
}

func (q *quick) claimed(data []byte) (e instance.Claimed) {
	for f := q.fields(data); f.more(); {
		switch f.key {
		case 1<<3 | number:
			e.Token = uint64(uint32(f.value))
		case 2<<3 | text:
			e.Role = q.name(f.bytes)
		case 3<<3 | text:
			e.Agent = q.name(f.bytes)
		case 4<<3 | text:
			e.Lease = q.time(f.bytes, e.Lease)
		case 5<<3 | text:
			e.Lapsed = q.name(f.bytes)
		case 6<<3 | number:
			e.Direct = f.value != 0
		default:
			q.spoiled = true
		}
	}
	return e
}

func (q *quick) extended(data []byte) (e instance.LeaseExtended) {
	for f := q.fields(data); f.more(); {
		switch f.key {
		case 1<<3 | number:
			e.Token = uint64(uint32(f.value))
		case 2<<3 | text:
			e.Lease = q.time(f.bytes, e.Lease)
		default:
			q.spoiled = true
		}
	}
	return e
}

func (q *quick) dispatched(data []byte) (e instance.Dispatched) {
	for f := q.fields(data); f.more(); {
		switch f.key {
		case 1<<3 | text:
			e.State = q.name(f.bytes)
		case 2<<3 | text:
			e.Owner = q.name(f.bytes)
		case 3<<3 | text:
			e.Reason = q.text(f.bytes)
		case 4<<3 | number:
			e.Question = int(int32(f.value))
		default:
			q.spoiled = true
		}
	}
	return e
}

func (q *quick) moved(data []byte) (e instance.Moved) {
	for f := q.fields(data); f.more(); {
		switch f.key {
		case 1<<3 | text:
			e.From = q.name(f.bytes)
		case 2<<3 | text:
			e.To = q.name(f.bytes)
		case 3<<3 | text:
			e.Owner = q.name(f.bytes)
		case 4<<3 | text:
			e.Kind = workflow.Kind(q.name(f.bytes))
		case 5<<3 | text:
			e.Rule = q.name(f.bytes)
		case 6<<3 | text:
			e.Reason = q.text(f.bytes)
		case 7<<3 | number:
			e.Failure = f.value != 0
		case 8<<3 | number:
			e.Loop = f.value != 0
		case 9<<3 | number:
			e.Override = f.value != 0
		case 10<<3 | text:
			e.Timeout = q.span(f.bytes, e.Timeout)
		case 11<<3 | number:
			e.KeepsClaim = f.value != 0
		case 12<<3 | number:
			e.ResetsFailures = f.value != 0
		case 13<<3 | text:
			e.Cites = append(e.Cites, q.name(f.bytes))
		default:
			q.spoiled = true
		}
	}
	return e
}

func (q *quick) reported(data []byte) (e instance.Reported) {
	results := 0
	for f := q.fields(data); f.more(); {
		switch f.key {
		case 1<<3 | number:
			e.Token = uint64(uint32(f.value))
		case 2<<3 | text:
			e.Role = q.name(f.bytes)
		case 3<<3 | text:
			e.Agent = q.name(f.bytes)
		case 4<<3 | text:
			e.State = q.name(f.bytes)
		case 5<<3 | text:
			results++
			q.result(f.bytes, &e.Result)
		case 6<<3 | number:
			e.Question = int(int32(f.value))
		default:
			q.spoiled = true
		}
	}
	q.spoiled = q.spoiled || results > 1
	return e
}

// result decodes the plain fields itself, and leaves it to protobuf if there are
// others.
func (q *quick) result(data []byte, r *instance.Result) {
	for f := q.fields(data); f.more(); {
		switch f.key {
		case 1<<3 | text:
			r.Status = instance.Status(q.name(f.bytes))
		case 2<<3 | double:
			r.ConfidenceScore = math.Float64frombits(f.value)
		case 4<<3 | text:
			r.Next = q.name(f.bytes)
		case 5<<3 | text:
			r.Summary = q.text(f.bytes)
		case 8<<3 | text:
			r.Head = q.text(f.bytes)
		case 9<<3 | text:
			r.Base = q.text(f.bytes)
		case 10<<3 | text:
			r.Bundle = q.text(f.bytes)
		case 12<<3 | text:
			r.FailureSignature = q.text(f.bytes)
		default:
			p := new(pb.Result)
			q.spoiled = q.spoiled || proto.Unmarshal(data, p) != nil
			*r = ToResult(p)
			return
		}
	}
}

func (q *quick) name(b []byte) string {
	if !utf8.Valid(b) {
		q.spoiled = true
	}
	return q.names.of(b)
}

func (q *quick) text(b []byte) string {
	if !utf8.Valid(b) {
		q.spoiled = true
	}
	return string(b)
}

// pair decodes what times and durations are made of.
func (q *quick) pair(data []byte) (seconds int64, nanos int32) {
	for f := q.fields(data); f.more(); {
		switch f.key {
		case 1<<3 | number:
			seconds = int64(f.value)
		case 2<<3 | number:
			nanos = int32(f.value)
		default:
			q.spoiled = true
		}
	}
	return seconds, nanos
}

func (q *quick) time(data []byte, before time.Time) time.Time {
	seconds, nanos := q.pair(data)
	q.spoiled = q.spoiled || !before.IsZero() // a second one
	return time.Unix(seconds, int64(nanos)).UTC()
}

func (q *quick) span(data []byte, before time.Duration) time.Duration {
	seconds, nanos := q.pair(data)
	const most = math.MaxInt64/int64(time.Second) - 1
	q.spoiled = q.spoiled || before != 0 || seconds > most || seconds < -most
	return time.Duration(seconds)*time.Second + time.Duration(nanos)
}
