package wire

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Types of fields on the wire.
const (
	number = int(protowire.VarintType)
	double = int(protowire.Fixed64Type)
	text   = int(protowire.BytesType)
)

// fields goes through those of a message.
type fields struct {
	quick *quick
	rest  []byte
	key   int // number and type
	value uint64
	bytes []byte
}

func (q *quick) fields(data []byte) fields { return fields{quick: q, rest: data} }

// more goes to the next field, if there is one and nothing is out of the ordinary.
func (f *fields) more() bool {
	if len(f.rest) == 0 || f.quick.spoiled {
		return false
	}
	key, n := protowire.ConsumeVarint(f.rest)
	if n < 0 || key > math.MaxInt16 {
		f.quick.spoiled = true
		return false
	}
	f.rest, f.key = f.rest[n:], int(key)
	switch int(key & 7) {
	case number:
		f.value, n = protowire.ConsumeVarint(f.rest)
	case double:
		f.value, n = protowire.ConsumeFixed64(f.rest)
	case text:
		f.bytes, n = protowire.ConsumeBytes(f.rest)
	default:
		n = -1
	}
	if n < 0 {
		f.quick.spoiled = true
		return false
	}
	f.rest = f.rest[n:]
	return true
}
