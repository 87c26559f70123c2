package wire

import (
	"math"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// pen writes messages without making them first, byte for byte as protobuf
// does: fields in the order of their numbers, and nothing of what is zero.
type pen struct {
	data []byte
	odd  bool // something cannot be encoded: protobuf will say what
}

func (p *pen) tag(field, kind int) { p.varint(uint64(field<<3 | kind)) }

func (p *pen) varint(n uint64) {
	if n < 1<<7 { // as most are
		p.data = append(p.data, byte(n))
		return
	}
	p.data = protowire.AppendVarint(p.data, n)
}

func (p *pen) text(field int, s string) {
	if s != "" {
		p.one(field, s)
	}
}

// one is a text of a list, which may be empty.
func (p *pen) one(field int, s string) {
	if !utf8.ValidString(s) {
		p.odd = true
	}
	p.tag(field, text)
	p.varint(uint64(len(s)))
	p.data = append(p.data, s...)
}

func (p *pen) texts(field int, all []string) {
	for _, s := range all {
		p.one(field, s)
	}
}

func (p *pen) number(field int, n uint64) {
	if n != 0 {
		p.tag(field, number)
		p.varint(n)
	}
}

// int is for what may be negative.
func (p *pen) int(field int, n int32) { p.number(field, uint64(int64(n))) }

func (p *pen) flag(field int, is bool) {
	if is {
		p.number(field, 1)
	}
}

func (p *pen) double(field int, f float64) {
	if bits := math.Float64bits(f); bits != 0 { // which minus zero has, too
		p.tag(field, double)
		p.data = protowire.AppendFixed64(p.data, bits)
	}
}

func (p *pen) time(field int, t time.Time) {
	if !t.IsZero() {
		p.pair(field, t.Unix(), int32(t.Nanosecond()))
	}
}

func (p *pen) span(field int, d time.Duration) {
	if d != 0 {
		p.pair(field, int64(d/time.Second), int32(d%time.Second))
	}
}

// pair is what times and durations are made of.
func (p *pen) pair(field int, seconds int64, nanos int32) {
	at := p.open(field)
	p.number(1, uint64(seconds))
	p.int(2, nanos)
	p.close(at)
}

// open begins a message within the message; close ends it.
func (p *pen) open(field int) (at int) {
	p.tag(field, text)
	p.data = append(p.data, 0) // room for the length of most
	return len(p.data)
}

func (p *pen) close(at int) {
	n := len(p.data) - at
	if n < 1<<7 {
		p.data[at-1] = byte(n)
		return
	}
	more := protowire.SizeVarint(uint64(n)) - 1
	p.data = append(p.data, make([]byte, more)...)
	copy(p.data[at+more:], p.data[at:at+n])
	protowire.AppendVarint(p.data[:at-1], uint64(n))
}

// message writes the fields of one that was made.
func (p *pen) message(m proto.Message) {
	data, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(p.data, m)
	if p.odd = p.odd || err != nil; err == nil {
		p.data = data
	}
}
