package jetstream

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// ObjectBucket is the object store of git bundles and other output of agents.
const ObjectBucket = "objects"

// EnsureObjects creates the object store, or updates its configuration.
func EnsureObjects(ctx context.Context, js jetstream.JetStream, replicas int) (jetstream.ObjectStore, error) {
	replicas, err := Copies(ctx, js, "OBJ_"+ObjectBucket, replicas)
	if err != nil {
		return nil, err
	}
	store, err := js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
		Bucket:      ObjectBucket,
		Description: "Git bundles and other artifacts of agents.",
		Storage:     jetstream.FileStorage,
		Replicas:    replicas,
	})
	if err != nil {
		return nil, fmt.Errorf("ensure object store %s: %w", ObjectBucket, err)
	}
	return store, nil
}

const (
	chunkTimeout = 30 * time.Second // how long one chunk, of 512 KiB at most, may take
	trusted      = 64 << 20         // bytes that an object may say it has before it is read
)

// Objects is an object store whose objects are read chunk by chunk, a request each. Get and
// GetBytes end with their context, and each chunk has its own timeout. The client library
// has one timeout for a whole object, and blocks until it is over when the context is
// cancelled.
type Objects struct {
	jetstream.ObjectStore
	stream jetstream.Stream // that the objects are kept in
}

// OpenObjects opens the object store of that name. jetstream.ErrBucketNotFound
// says that there is none.
func OpenObjects(ctx context.Context, js jetstream.JetStream, bucket string) (Objects, error) {
	store, err := js.ObjectStore(ctx, bucket)
	if err != nil {
		return Objects{}, err
	}
	return readable(ctx, js, bucket, store)
}

func readable(ctx context.Context, js jetstream.JetStream, bucket string, store jetstream.ObjectStore) (Objects, error) {
	stream, err := js.Stream(ctx, "OBJ_"+bucket)
	return Objects{store, stream}, err
}

// Get opens an object. ctx also ends the reading of it.
func (o Objects) Get(ctx context.Context, name string, options ...jetstream.GetObjectOpt) (jetstream.ObjectResult, error) {
	if len(options) > 0 {
		return o.ObjectStore.Get(ctx, name, options...)
	}
	info, err := o.GetInfo(ctx, name)
	if err != nil {
		return nil, err
	}
	if info.Opts != nil && info.Opts.Link != nil {
		return o.ObjectStore.Get(ctx, name)
	}
	return &object{ctx: ctx, stream: o.stream, info: info, sum: sha256.New()}, nil
}

// GetBytes returns an object's content.
func (o Objects) GetBytes(ctx context.Context, name string, options ...jetstream.GetObjectOpt) ([]byte, error) {
	r, err := o.Get(ctx, name, options...)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	info, err := r.Info()
	if err != nil {
		return nil, err
	}
	var all bytes.Buffer
	all.Grow(int(min(info.Size, trusted)) + bytes.MinRead)
	_, err = all.ReadFrom(r)
	return all.Bytes(), err
}

// object is an object that is being read, by one goroutine.
type object struct {
	ctx    context.Context
	stream jetstream.Stream
	info   *jetstream.ObjectInfo
	chunk  []byte // the part that is not read yet
	chunks uint32 // received so far
	seq    uint64 // of the last chunk
	sum    hash.Hash
	err    error // once set, Read returns it
}

// Read implements io.Reader. At the end it checks the content's digest.
func (o *object) Read(p []byte) (int, error) {
	for len(o.chunk) == 0 && o.err == nil && len(p) > 0 {
		o.err = o.next()
	}
	n := copy(p, o.chunk)
	o.chunk = o.chunk[n:]
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, o.err
}

func (o *object) next() error {
	if o.chunks == o.info.Chunks {
		if got := jetstream.GetObjectDigestValue(o.sum); got != o.info.Digest {
			return fmt.Errorf("object %s: %w: %s, want %s", o.info.Name, jetstream.ErrDigestMismatch, got, o.info.Digest)
		}
		return io.EOF
	}
	m, err := once(o.ctx, chunkTimeout, func(ctx context.Context) (*jetstream.RawStreamMsg, error) {
		return o.stream.GetMsg(ctx, o.seq+1, jetstream.WithGetMsgSubject("$O."+o.info.Bucket+".C."+o.info.NUID))
	})
	if err != nil {
		return fmt.Errorf("object %s, chunk %d of %d: %w", o.info.Name, o.chunks+1, o.info.Chunks, err)
	}
	o.chunk, o.seq = m.Data, m.Sequence
	o.chunks++
	o.sum.Write(m.Data)
	return nil
}

// Close implements io.Closer.
func (o *object) Close() error {
	o.chunk, o.err = nil, errors.Join(o.err, io.ErrClosedPipe)
	return nil
}

// Info implements jetstream.ObjectResult.
func (o *object) Info() (*jetstream.ObjectInfo, error) { return o.info, o.Error() }

// Error implements jetstream.ObjectResult.
func (o *object) Error() error {
	if o.err == io.EOF {
		return nil
	}
	return o.err
}
