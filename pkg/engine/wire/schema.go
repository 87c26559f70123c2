package wire

import (
	"crypto/sha256"
	"fmt"
	"hash"

	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Schema is a fingerprint of every message that a commit or a snapshot may hold. A build
// with another one may have stored less than this one knows, or more.
func Schema() []byte {
	h := sha256.New()
	seen := map[protoreflect.FullName]bool{}
	for _, m := range []protoreflect.ProtoMessage{&pb.Commit{}, &pb.Snapshot{}, &pb.LiveInstances{}, &pb.EndedInstances{}} {
		describe(h, m.ProtoReflect().Descriptor(), seen)
	}
	return h.Sum(nil)
}

func describe(h hash.Hash, m protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool) {
	if seen[m.FullName()] {
		return
	}
	seen[m.FullName()] = true
	fmt.Fprintf(h, "%s{", m.FullName())
	fields := m.Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		fmt.Fprintf(h, "%d %s %s %s;", f.Number(), f.Name(), f.Kind(), f.Cardinality())
	}
	fmt.Fprint(h, "}")
	for i := range fields.Len() {
		if inner := fields.Get(i).Message(); inner != nil {
			describe(h, inner, seen)
		}
	}
}
