package snapshot

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/signalbox/signalbox/pkg/engine/wire"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// format counts the meanings that events have had. A snapshot that was made under
// another one is not used: the log has to be read again.
const format = 6

// encodeIndex encodes the description of a snapshot after its own checksum.
func encodeIndex(p *pb.Snapshot) ([]byte, error) {
	data, err := proto.Marshal(p)
	return append(checksum(data), data...), err
}

func checksum(data []byte) []byte {
	sum := sha256.Sum256(data)
	return sum[:]
}

// decodeIndex decodes the description of a snapshot. The error says why the snapshot
// cannot be used here.
func (s *Store) decodeIndex(data []byte) (*pb.Snapshot, error) {
	if len(data) == 0 {
		return nil, ErrNone
	}
	p := &pb.Snapshot{}
	body := data[min(sha256.Size, len(data)):]
	switch err := proto.Unmarshal(body, p); {
	case err != nil || !bytes.HasPrefix(data, checksum(body)):
		return nil, ErrDamaged
	case p.GetFormat() != format || !bytes.Equal(p.GetSchema(), wire.Schema()):
		return nil, errors.New("the snapshot was made by a build that knows other events")
	case p.GetLog() != s.Log:
		return nil, fmt.Errorf("the snapshot is of another log: %s, want %s", p.GetLog(), s.Log)
	}
	return p, nil
}

// contains reports whether a part belongs to the snapshot.
func contains(p *pb.Snapshot, name string) bool {
	named := func(part *pb.SnapshotPart) bool { return part.GetName() == name }
	return named(p.GetLive()) || slices.ContainsFunc(p.GetEnded(), named)
}
