package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/subject"
	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// Holder is the holder of a claim, under which an agent reads and puts objects.
type Holder struct {
	Role, Agent, Instance string
	Token                 uint32
}

// ErrObject means that an object did not come, or was not taken, as it is.
var ErrObject = errors.New("the object is not whole")

// putPart is how many bytes of an object go in one request, if the server takes that many.
const putPart = 512 << 10

// GetObject opens an object that the instance of the claim refers to. For a person, who has no claim,
// only Holder.Instance is set. A refusal is an *instance.Refusal. The object is checked against its
// hash as it is read: a Read that returns io.EOF says that all of it came.
func (c *Client) GetObject(ctx context.Context, h Holder, name string) (io.ReadCloser, error) {
	to, err := subject.API(subject.GetObject)
	if h.Role != "" {
		to, err = subject.Agent(h.Role, subject.GetObject)
	}
	if err != nil {
		return nil, err
	}
	o := &objectReader{ctx: ctx, client: c, to: to, holder: h, name: name, sum: sha256.New()}
	return o, o.fetch()
}

// objectReader reads an object part by part.
type objectReader struct {
	ctx    context.Context
	client *Client
	to     string
	holder Holder
	name   string
	part   []byte
	at     uint64 // offset behind part
	size   uint64
	hash   string
	sum    hash.Hash
	err    error
}

// fetch asks for the next part.
func (o *objectReader) fetch() error {
	reply := new(pb.GetObjectReply)
	err := o.client.request(o.ctx, &nats.Msg{Subject: o.to, Header: o.client.header}, o.client.alone, &pb.GetObjectRequest{
		Instance: o.holder.Instance, Token: o.holder.Token, Agent: o.holder.Agent, Name: o.name, Offset: o.at}, reply)
	switch {
	case err != nil:
		return err
	case reply.Refusal != nil:
		return refusal(o.holder.Instance, reply.Refusal)
	case o.at > 0 && (reply.Size != o.size || reply.Sha256 != o.hash):
		return fmt.Errorf("%w: %s was replaced while it was read", ErrObject, o.name)
	case len(reply.Data) == 0 && o.at < reply.Size, uint64(len(reply.Data)) > reply.Size-o.at:
		return fmt.Errorf("%w: %d bytes of %s came at %d of %d", ErrObject, len(reply.Data), o.name, o.at, reply.Size)
	}
	o.size, o.hash, o.part = reply.Size, reply.Sha256, reply.Data
	o.at += uint64(len(reply.Data))
	o.sum.Write(reply.Data)
	return nil
}

// Read implements io.Reader.
func (o *objectReader) Read(p []byte) (int, error) {
	for len(o.part) == 0 && o.err == nil && len(p) > 0 {
		switch {
		case o.at < o.size:
			o.err = o.fetch()
		case hex.EncodeToString(o.sum.Sum(nil)) != o.hash:
			o.err = fmt.Errorf("%w: %s has the SHA-256 %x, want %s", ErrObject, o.name, o.sum.Sum(nil), o.hash)
		default:
			o.err = io.EOF
		}
	}
	n := copy(p, o.part)
	o.part = o.part[n:]
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, o.err
}

// Close implements io.Closer.
func (o *objectReader) Close() error {
	o.part, o.err = nil, io.ErrClosedPipe
	return nil
}

// HasObject reports whether there is an object of a name that may be put under the claim.
func (c *Client) HasObject(ctx context.Context, h Holder, name string) (bool, error) {
	reply, err := c.putPart(ctx, h, &pb.PutObjectRequest{Name: name, Probe: true})
	return reply.GetDone(), err
}

// PutObject stores an object under a claim. One of that name that is there stays, and that is no error.
func (c *Client) PutObject(ctx context.Context, h Holder, name string, r io.Reader) error {
	content, ok := r.(io.ReadSeeker)
	if !ok {
		all, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		content = bytes.NewReader(all)
	}
	sum := sha256.New()
	size, err := io.Copy(sum, content)
	if err != nil {
		return err
	}
	q := &pb.PutObjectRequest{Name: name, Size: uint64(size), Sha256: hex.EncodeToString(sum.Sum(nil))}
	part := make([]byte, min(putPart, max(c.nc.MaxPayload()-(8<<10), 4<<10), max(size, 1)))
	for back := 0; ; {
		if _, err := content.Seek(int64(q.Offset), io.SeekStart); err != nil {
			return err
		}
		n, err := io.ReadFull(content, part[:min(int64(len(part)), size-int64(q.Offset))])
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrObject, name, err)
		}
		q.Data = part[:n]
		reply, err := c.putPart(ctx, h, q)
		switch {
		case err != nil || reply.Done:
			return err
		case reply.Next > q.Size:
			return fmt.Errorf("%w: %s is wanted from %d of %d", ErrObject, name, reply.Next, q.Size)
		case reply.Next <= q.Offset: // another orchestrator answers, and has nothing of it
			if back++; back == maxPutAgain {
				return fmt.Errorf("%w: %s was begun %d times", ErrObject, name, back)
			}
		}
		q.Offset = reply.Next
	}
}

// maxPutAgain is how often an object is put again from an earlier part.
const maxPutAgain = 5

func (c *Client) putPart(ctx context.Context, h Holder, q *pb.PutObjectRequest) (*pb.PutObjectReply, error) {
	to, err := subject.Agent(h.Role, subject.PutObject)
	if err != nil {
		return nil, err
	}
	q.Instance, q.Token, q.Agent = h.Instance, h.Token, h.Agent
	reply := new(pb.PutObjectReply)
	err = c.request(ctx, &nats.Msg{Subject: to, Header: c.header}, c.alone, q, reply)
	return reply, refused(h.Instance, reply, err)
}
