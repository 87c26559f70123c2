package engine

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// blockSize is how many instances a block has: they are encoded and decoded together.
const blockSize = 256

var errDamaged = errors.New("the snapshot is damaged")

// block appends a block to the blocks of a part.
func block(part []byte, m proto.Message) ([]byte, error) {
	data, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	return append(binary.AppendUvarint(part, uint64(len(data))), data...), nil
}

// blocks gives each block of a part.
func blocks(part []byte, f func(block []byte) error) error {
	for len(part) > 0 {
		n, used := binary.Uvarint(part)
		if used <= 0 || n > uint64(len(part)-used) {
			return fmt.Errorf("%w: a block is cut off", errDamaged)
		}
		if err := f(part[used : used+int(n)]); err != nil {
			return err
		}
		part = part[used+int(n):]
	}
	return nil
}

// partOf describes a part. Its name begins with the sequence of the snapshot it
// was made for.
func partOf(kind string, seq uint64, data []byte) *pb.SnapshotPart {
	return &pb.SnapshotPart{Name: fmt.Sprintf("%020d.%s.%s", seq, kind, rand.Text()), Sha256: seal(data), Size: uint64(len(data))}
}

// liveBlocks encodes instances for who goes on with them.
func liveBlocks(all []lively) (part []byte, err error) {
	for len(all) > 0 {
		some := all[:min(blockSize, len(all))]
		all = all[len(some):]
		m := &pb.LiveInstances{}
		for _, n := range some {
			p := wire.Live(n.in)
			p.Head, p.Given, p.Rests = n.head[:], n.given, wire.Stamp(n.rests)
			for commands := range n.taken.Blocks() {
				for _, t := range commands {
					p.Taken = append(p.Taken, uint64(t.id)<<32|uint64(t.seq))
				}
			}
			m.Instances = append(m.Instances, p)
		}
		if part, err = block(part, m); err != nil {
			return nil, err
		}
	}
	return part, nil
}

// endedBlocks encodes outlines.
func endedBlocks(all []named) (part []byte, err error) {
	for len(all) > 0 {
		some := all[:min(blockSize, len(all))]
		all = all[len(some):]
		m, known := &pb.EndedInstances{}, map[*ending]uint32{}
		for _, o := range some {
			in := o.instance(o.id)
			at, ok := known[o.end]
			if !ok {
				at = uint32(len(m.Endings))
				known[o.end] = at
				m.Endings = append(m.Endings, wire.Ending(in))
			}
			p := wire.Ended(in)
			p.Ending, p.Head, p.Given = at, o.head[:], o.given
			m.Instances = append(m.Instances, p)
		}
		if part, err = block(part, m); err != nil {
			return nil, err
		}
	}
	return part, nil
}
