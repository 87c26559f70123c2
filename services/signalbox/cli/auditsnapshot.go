package cli

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"

	store "github.com/signalbox/signalbox/pkg/eventstore/jetstream"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// snapshot asks the orchestrators' newest snapshot where each instance was.
func (e *examiner) snapshot(ctx context.Context, js jetstream.JetStream, log *store.Survey) error {
	index, err := js.KeyValue(ctx, store.SnapshotBucket)
	if err != nil {
		return fmt.Errorf("bucket %s: %w", store.SnapshotBucket, err)
	}
	newest, err := index.Get(ctx, "newest")
	if err != nil {
		return fmt.Errorf("the newest snapshot: %w", err)
	}
	parts, err := store.OpenObjects(ctx, js, store.SnapshotParts)
	if err != nil {
		return fmt.Errorf("object store %s: %w", store.SnapshotParts, err)
	}
	var p pb.Snapshot
	data := newest.Value()
	if err := proto.Unmarshal(data[min(sha256.Size, len(data)):], &p); err != nil {
		return fmt.Errorf("the newest snapshot: %w", err)
	}
	if log.Identity != "" && p.GetLog() != log.Identity {
		return nil
	}
	err = e.part(ctx, parts, p.GetLive(), func(block []byte) error {
		var live pb.LiveInstances
		err := proto.Unmarshal(block, &live)
		for _, one := range live.GetInstances() {
			e.checker.Known(one.GetInstance().GetInstance(), one.GetInstance().GetSeq())
		}
		return err
	})
	for _, part := range p.GetEnded() {
		if err != nil {
			return err
		}
		err = e.part(ctx, parts, part, func(block []byte) error {
			var ended pb.EndedInstances
			err := proto.Unmarshal(block, &ended)
			for _, one := range ended.GetInstances() {
				e.checker.Known(one.GetInstance(), one.GetSeq())
			}
			return err
		})
	}
	return err
}

// part calls f with each block of a part, of which there is one after its length.
func (e *examiner) part(ctx context.Context, parts store.Objects, p *pb.SnapshotPart, f func([]byte) error) error {
	if p == nil {
		return nil
	}
	data, err := parts.GetBytes(ctx, p.GetName())
	for err == nil && len(data) > 0 {
		n, used := binary.Uvarint(data)
		if used <= 0 || n > uint64(len(data)-used) {
			return fmt.Errorf("a block of %s is cut off", p.GetName())
		}
		err = f(data[used : used+int(n)])
		data = data[used+int(n):]
	}
	return err
}
