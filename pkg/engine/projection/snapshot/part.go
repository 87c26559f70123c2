package snapshot

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// blockSize is how many instances a block has: they are encoded and decoded together.
const blockSize = 256

// ErrDamaged means that a snapshot does not match its checksums, or cannot be decoded.
var ErrDamaged = errors.New("the snapshot is damaged")

// putPart writes a part. Its name begins with the sequence of the snapshot that it
// is made for.
func (s *Store) putPart(ctx context.Context, kind string, seq uint64, data []byte) (*pb.SnapshotPart, error) {
	name := fmt.Sprintf("%020d.%s.%s", seq, kind, rand.Text())
	if err := s.Parts.Put(ctx, name, data); err != nil {
		return nil, fmt.Errorf("write a part of the snapshot: %w", err)
	}
	return &pb.SnapshotPart{Name: name, Sha256: checksum(data), Size: uint64(len(data))}, nil
}

// getPart reads a part and checks its checksum.
func (s *Store) getPart(ctx context.Context, part *pb.SnapshotPart) ([]byte, error) {
	data, err := s.Parts.Get(ctx, part.GetName())
	if err != nil {
		return nil, fmt.Errorf("read a part of the snapshot: %w", err)
	}
	if !bytes.Equal(checksum(data), part.GetSha256()) {
		return nil, fmt.Errorf("%w: part %s", ErrDamaged, part.GetName())
	}
	return data, nil
}

// appendBlock appends a block to the blocks of a part.
func appendBlock(part []byte, m proto.Message) ([]byte, error) {
	data, err := proto.Marshal(m)
	if err != nil {
		return nil, err
	}
	return append(binary.AppendUvarint(part, uint64(len(data))), data...), nil
}

// eachBlock calls f with each block of a part.
func eachBlock(part []byte, f func(block []byte) error) error {
	for len(part) > 0 {
		n, used := binary.Uvarint(part)
		if used <= 0 || n > uint64(len(part)-used) {
			return fmt.Errorf("%w: a block is cut off", ErrDamaged)
		}
		if err := f(part[used : used+int(n)]); err != nil {
			return err
		}
		part = part[used+int(n):]
	}
	return nil
}
