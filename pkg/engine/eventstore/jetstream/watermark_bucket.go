package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/subject"
)

// WatermarkBucket is the key-value bucket of the watermark where there is no
// file for it. Its one key is the name of the log's stream.
const WatermarkBucket = "watermark"

// bucketWatermark keeps the watermark next to the log.
type bucketWatermark struct{ bucket jetstream.KeyValue }

func openBucketWatermark(ctx context.Context, js jetstream.JetStream, c Config) (bucketWatermark, error) {
	kv, err := js.KeyValue(ctx, WatermarkBucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: WatermarkBucket, Description: "How far the log went.", Replicas: max(c.Replicas, 1),
		})
	}
	if err != nil {
		return bucketWatermark{}, fmt.Errorf("open bucket %s: %w", WatermarkBucket, enabled(err))
	}
	return bucketWatermark{kv}, nil
}

func (k bucketWatermark) String() string {
	return "key " + subject.EventStream + " of bucket " + WatermarkBucket
}

func (k bucketWatermark) load(ctx context.Context) (watermark, error) {
	entry, err := k.bucket.Get(ctx, subject.EventStream)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return watermark{}, nil
	}
	if err != nil {
		return watermark{}, err
	}
	var w watermark
	return w, json.Unmarshal(entry.Value(), &w)
}

// save may lower the watermark when several processes share it, by what they save
// within the same second: it is then weaker, never wrong.
func (k bucketWatermark) save(ctx context.Context, w watermark) error {
	data, err := json.Marshal(w)
	if err != nil {
		return err
	}
	_, err = k.bucket.Put(ctx, subject.EventStream, data)
	return err
}
