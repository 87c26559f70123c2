package snapshot

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/instance"
	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Live is an instance that is not closed, whole.
type Live struct {
	Instance instance.Instance
	Head     [sha256.Size]byte // chain of its newest commit
	Rests    time.Time         // until then it is left alone after a fault
	Commands []uint64          // it carried out, oldest first: hash of the id, lower half of the sequence
	Claims   []uint64          // hashes of commands that claimed it without naming it
}

// Closed is an instance that is closed, in summary.
type Closed struct {
	Instance instance.Instance
	Head     [sha256.Size]byte
	Claims   []uint64
	// Shared is the same for instances that wire.Ending encodes in the same way.
	Shared any
}

// DecodeLive decodes a live instance of a snapshot.
func DecodeLive(data []byte) (Live, error) {
	p := &pb.LiveInstance{}
	if err := proto.Unmarshal(data, p); err != nil {
		return Live{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	l := Live{Instance: wire.ToLive(p), Rests: wire.Time(p.GetRests()), Commands: p.GetTaken(), Claims: p.GetGiven()}
	copy(l.Head[:], p.GetHead())
	return l, nil
}

// message returns the instance as it is encoded.
func (l Live) message() *pb.LiveInstance {
	p := wire.Live(l.Instance)
	p.Head, p.Taken, p.Given, p.Rests = l.Head[:], l.Commands, l.Claims, wire.Stamp(l.Rests)
	return p
}

// encodeLive encodes live instances as blocks.
func encodeLive(all iter.Seq[Live]) (part []byte, err error) {
	m := &pb.LiveInstances{}
	for l := range all {
		if m.Instances = append(m.Instances, l.message()); len(m.Instances) == blockSize {
			if part, err = appendBlock(part, m); err != nil {
				return nil, err
			}
			m = &pb.LiveInstances{}
		}
	}
	if len(m.Instances) == 0 {
		return part, nil
	}
	return appendBlock(part, m)
}

// eachLive calls f with each instance of a block.
func eachLive(block []byte, f func(wire.Header) error) error {
	all, err := wire.Headers(block)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	for _, h := range all {
		if err := f(h); err != nil {
			return err
		}
	}
	return nil
}

// encodeClosed encodes closed instances as blocks. Each block has what its instances
// have in common once.
func encodeClosed(all iter.Seq[Closed]) (part []byte, err error) {
	m, known := &pb.EndedInstances{}, map[any]uint32{}
	for c := range all {
		at, ok := known[c.Shared]
		if !ok {
			at = uint32(len(m.Endings))
			known[c.Shared] = at
			m.Endings = append(m.Endings, wire.Ending(c.Instance))
		}
		p := wire.Ended(c.Instance)
		p.Ending, p.Head, p.Given = at, c.Head[:], c.Claims
		if m.Instances = append(m.Instances, p); len(m.Instances) == blockSize {
			if part, err = appendBlock(part, m); err != nil {
				return nil, err
			}
			m, known = &pb.EndedInstances{}, map[any]uint32{}
		}
	}
	if len(m.Instances) == 0 {
		return part, nil
	}
	return appendBlock(part, m)
}

// eachClosed calls f with each instance of a block.
func eachClosed(block []byte, f func(Closed)) error {
	m := &pb.EndedInstances{}
	if err := proto.Unmarshal(block, m); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	for _, p := range m.GetInstances() {
		if int(p.GetEnding()) >= len(m.GetEndings()) {
			return fmt.Errorf("%w: an ending is missing", ErrDamaged)
		}
		c := Closed{Instance: wire.ToEnded(m.GetEndings()[p.GetEnding()], p), Claims: p.GetGiven()}
		copy(c.Head[:], p.GetHead())
		f(c)
	}
	return nil
}
