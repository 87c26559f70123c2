package jetstream

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// ErrOtherContent means that what was uploaded does not have the hash it was to have.
var ErrOtherContent = errors.New("the content has another hash")

// Upload is an object that is stored part by part, in the form of JetStream's object
// store. Until End returns, the object is not there. It is not safe for concurrent use.
type Upload struct {
	Size uint64 // bytes so far

	js     jetstream.JetStream
	stream jetstream.Stream
	bucket string
	name   string
	id     string
	chunks uint32
	sum    hash.Hash
}

// Upload begins an object. Nothing is stored yet.
func (o Objects) Upload(js jetstream.JetStream, bucket, name string) *Upload {
	return &Upload{js: js, stream: o.stream, bucket: bucket, name: name, id: nuid.Next(), sum: sha256.New()}
}

// Append stores the next part. After an error the part may or may not be stored:
// Abort the upload.
func (u *Upload) Append(ctx context.Context, part []byte) error {
	if len(part) == 0 {
		return nil
	}
	if _, err := u.js.Publish(ctx, u.subject(), part); err != nil {
		return fmt.Errorf("object %s: %w", u.name, err)
	}
	u.chunks++
	u.Size += uint64(len(part))
	u.sum.Write(part)
	return nil
}

// End makes the object available, if it has the hash, in hexadecimal; otherwise it is
// ErrOtherContent. It may be called again after another error.
func (u *Upload) End(ctx context.Context, want string) error {
	if got := hex.EncodeToString(u.sum.Sum(nil)); got != want {
		return fmt.Errorf("object %s: %w: %s, want %s", u.name, ErrOtherContent, got, want)
	}
	info := jetstream.ObjectInfo{
		ObjectMeta: jetstream.ObjectMeta{Name: u.name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: partChunk}},
		Bucket:     u.bucket, NUID: u.id, Size: u.Size, Chunks: u.chunks, Digest: jetstream.GetObjectDigestValue(u.sum), ModTime: time.Now().UTC(),
	}
	data, err := json.Marshal(info)
	if err != nil {
		return err
	}
	m := nats.NewMsg("$O." + u.bucket + ".M." + base64.URLEncoding.EncodeToString([]byte(u.name)))
	m.Header.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
	m.Data = data
	if _, err := u.js.PublishMsg(ctx, m); err != nil {
		return fmt.Errorf("object %s: %w", u.name, err)
	}
	return nil
}

// Abort removes what was stored. Do not call it after End returned nil.
func (u *Upload) Abort(ctx context.Context) error {
	if u.chunks == 0 {
		return nil
	}
	return u.stream.Purge(ctx, jetstream.WithPurgeSubject(u.subject()))
}

func (u *Upload) subject() string { return "$O." + u.bucket + ".C." + u.id }

// Digest returns the SHA-256 of an object, in hexadecimal.
func Digest(info *jetstream.ObjectInfo) (string, error) {
	text, ok := strings.CutPrefix(info.Digest, "SHA-256=")
	sum, err := base64.URLEncoding.DecodeString(text)
	if !ok || err != nil {
		return "", fmt.Errorf("object %s: %q is no SHA-256", info.Name, info.Digest)
	}
	return hex.EncodeToString(sum), nil
}
