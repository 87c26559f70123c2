package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// Keys returns the keys of a bucket in order, deleted ones among them. The client library lists
// keys with a consumer that pushes, and does not heed ctx: where nothing of it arrives, as in the
// account of an administrator or while the server restarts, it waits for ever. This is a request.
func Keys(ctx context.Context, js jetstream.JetStream, bucket string) ([]string, error) {
	stream, err := js.Stream(ctx, "KV_"+bucket)
	if err != nil {
		return nil, err
	}
	return below(ctx, stream, "$KV."+bucket+".")
}

// All returns the objects, ordered by their encoded names. It uses no consumer, as Keys.
func (o Objects) All(ctx context.Context) (all []*jetstream.ObjectInfo, err error) {
	prefix := strings.TrimPrefix(o.stream.CachedInfo().Config.Name, "OBJ_")
	prefix = "$O." + prefix + ".M."
	names, err := below(ctx, o.stream, prefix)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		m, err := once(ctx, chunkTimeout, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
			return o.stream.GetLastMsgForSubject(ctx, prefix+name)
		})
		if errors.Is(err, jetstream.ErrMsgNotFound) { // it was replaced meanwhile, or purged
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("object %s: %w", name, err)
		}
		info := new(jetstream.ObjectInfo)
		if err := json.Unmarshal(m.Data, info); err != nil {
			return nil, fmt.Errorf("object %s: %w", name, err)
		}
		if info.ModTime = m.Time; !info.Deleted {
			all = append(all, info)
		}
	}
	return all, nil
}

// below returns what follows the prefix in the subjects of a stream, in order.
func below(ctx context.Context, stream jetstream.Stream, prefix string) ([]string, error) {
	info, err := once(ctx, chunkTimeout, func(ctx context.Context) (*jetstream.StreamInfo, error) {
		return stream.Info(ctx, jetstream.WithSubjectFilter(prefix+">"))
	})
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(info.State.Subjects))
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], prefix)
	}
	return names, nil
}
