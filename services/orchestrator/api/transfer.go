package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"
	"time"

	pb "github.com/signalbox/signalbox/proto/signalbox/v1"
)

// transfers are the objects that are being read and put. It is safe for concurrent use. Its memory may go at
// any time, with this orchestrator too: then the caller begins again.
//
// Locks: mu is never held while an object is read or stored, and never taken with a transfer's.
type transfers struct {
	objects Objects
	part    uint64 // bytes of an object in one reply

	mu    sync.Mutex
	all   map[transferKey]*transfer
	under map[holder]*usage // what was put, by claim
}

type transferKey struct {
	holder
	name string
	put  bool
}

// usage is what was put under one claim.
type usage struct {
	names map[string]bool
	bytes uint64
	used  time.Time
}

// transfer is one object on its way. A request locks it for as long as it takes.
type transfer struct {
	used time.Time // guarded by transfers.mu

	mu sync.Mutex
	content
}

// content is what a transfer has of its object. It has no lock: transfer has.
type content struct {
	ended  bool // it is of no use any more
	size   uint64
	sha256 string

	source io.ReadCloser // of an object that is read
	stop   context.CancelFunc
	next   uint64 // offset behind the newest part
	last   []byte // the newest part that was read, for a reply that was lost

	upload Upload // of an object that is put
}

func newTransfers(o Objects, part uint64) *transfers {
	return &transfers{objects: o, part: part, all: map[transferKey]*transfer{}, under: map[holder]*usage{}}
}

// find returns the transfer of a key, a new one if there is none, and those that it has displaced.
func (t *transfers) find(key transferKey, now time.Time) (found *transfer, displaced []*transfer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	found = t.all[key]
	if found == nil {
		found = &transfer{}
		displaced = displace(t.all, now)
		maps.DeleteFunc(t.under, func(_ holder, u *usage) bool { return now.Sub(u.used) > time.Hour })
		t.all[key] = found
	}
	found.used = now
	return found, displaced
}

// displace removes from all what is idle and, if there still are too many, what was used least recently.
// It returns what it removed.
func displace(all map[transferKey]*transfer, now time.Time) (out []*transfer) {
	var oldest transferKey
	for key, one := range all {
		if now.Sub(one.used) > idleTransfer {
			out = append(out, one)
			delete(all, key)
		} else if first := all[oldest]; first == nil || one.used.Before(first.used) {
			oldest = key
		}
	}
	if len(all) >= maxTransfers {
		out = append(out, all[oldest])
		delete(all, oldest)
	}
	return out
}

func (t *transfers) forget(key transferKey, one *transfer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all[key] == one {
		delete(t.all, key)
	}
}

// admit counts an object that is to be put under the claim, once, or says which limit is reached.
func (t *transfers) admit(h holder, name string, size uint64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	u := t.under[h]
	if u == nil {
		u = &usage{names: map[string]bool{}}
		t.under[h] = u
	}
	u.used = time.Now()
	switch {
	case u.names[name]:
		return nil
	case len(u.names) == maxClaimObjects:
		return &limitError{fmt.Sprintf("%d objects were put under this claim, want no more", maxClaimObjects)}
	case u.bytes+size > maxClaimBytes:
		return &limitError{fmt.Sprintf("%d bytes were put under this claim and this object has %d, want at most %d", u.bytes, size, maxClaimBytes)}
	}
	u.names[name] = true
	u.bytes += size
	return nil
}

// read returns the part of an object at an offset.
func (t *transfers) read(ctx context.Context, h holder, name string, offset uint64) (*pb.GetObjectReply, error) {
	key := transferKey{h, name, false}
	one, displaced := t.find(key, time.Now())
	closeAll(ctx, displaced)
	one.mu.Lock()
	defer one.mu.Unlock()
	part, err := one.read(ctx, t, name, offset)
	if err != nil || one.next == one.size && len(part) == 0 {
		one.close(ctx)
		t.forget(key, one)
	}
	return &pb.GetObjectReply{Data: part, Size: one.size, Sha256: one.sha256}, err
}

// read returns a part.
func (one *content) read(ctx context.Context, t *transfers, name string, offset uint64) ([]byte, error) {
	if one.source != nil && !one.ended && offset == one.next-uint64(len(one.last)) && len(one.last) > 0 {
		return one.last, nil
	}
	if one.source == nil || one.ended || offset != one.next {
		if err := one.open(ctx, t.objects, name, offset); err != nil {
			return nil, err
		}
	}
	part := make([]byte, min(t.part, one.size-one.next))
	n, err := io.ReadFull(one.source, part)
	if err == nil && one.next+uint64(n) == one.size {
		_, err = one.source.Read(make([]byte, 1)) // it is checked against its hash at its end
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	one.last, one.next = part[:n], one.next+uint64(n)
	return one.last, nil
}

// open opens the object at an offset.
func (one *content) open(ctx context.Context, objects Objects, name string, offset uint64) (err error) {
	one.close(ctx)
	if one.size, one.sha256, err = objects.Stat(ctx, name); err != nil {
		return err
	}
	if offset > one.size {
		return &limitError{fmt.Sprintf("offset %d is beyond the object's %d bytes", offset, one.size)}
	}
	// The object outlives the request that opens it.
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	if one.source, err = objects.Open(reading, name); err != nil {
		stop()
		one.source = nil
		return err
	}
	one.stop, one.ended, one.last, one.next = stop, false, nil, offset
	if _, err = io.CopyN(io.Discard, one.source, int64(offset)); err != nil {
		one.close(ctx)
	}
	return err
}

// close closes the object, and aborts an upload that is not complete.
func (one *content) close(ctx context.Context) {
	if one.source != nil {
		_ = one.source.Close() // of reading
		one.stop()
		one.source = nil
	}
	if one.upload != nil && !one.ended {
		_ = one.upload.Abort(context.WithoutCancel(ctx)) // what stays behind takes room only
	}
	one.ended = true
}

func closeAll(ctx context.Context, all []*transfer) {
	for _, one := range all {
		one.mu.Lock()
		one.close(ctx)
		one.mu.Unlock()
	}
}

// write stores a part of an object. An object that is there stays as it is.
func (t *transfers) write(ctx context.Context, h holder, q *pb.PutObjectRequest) (*pb.PutObjectReply, error) {
	key := transferKey{h, q.GetName(), true}
	if q.GetProbe() || q.GetOffset() == 0 {
		size, _, err := t.objects.Stat(ctx, q.GetName())
		switch {
		case err == nil:
			return &pb.PutObjectReply{Next: size, Done: true}, t.admit(h, q.GetName(), 0)
		case !errors.Is(err, ErrNoObject):
			return nil, err
		case q.GetProbe():
			return &pb.PutObjectReply{}, nil
		}
	}
	if err := t.admit(h, q.GetName(), q.GetSize()); err != nil {
		return nil, err
	}
	one, displaced := t.find(key, time.Now())
	closeAll(ctx, displaced)
	one.mu.Lock()
	defer one.mu.Unlock()
	reply, err := one.write(ctx, t.objects, q)
	if err != nil || reply.GetDone() {
		one.close(ctx)
		t.forget(key, one)
	}
	return reply, err
}

// write stores a part.
func (one *content) write(ctx context.Context, objects Objects, q *pb.PutObjectRequest) (*pb.PutObjectReply, error) {
	if one.upload == nil && q.GetOffset() > 0 { // the beginning is lost, or all of it is there
		size, sum, err := objects.Stat(ctx, q.GetName())
		if errors.Is(err, ErrNoObject) {
			one.ended = true
			return &pb.PutObjectReply{}, nil
		}
		return &pb.PutObjectReply{Next: size, Done: err == nil && sum != ""}, err
	}
	if one.ended || one.upload != nil && (one.size != q.GetSize() || one.sha256 != q.GetSha256()) {
		return nil, errors.New("another upload of that object was under way; send it again")
	}
	if one.upload == nil {
		one.upload, one.size, one.sha256 = objects.Upload(q.GetName()), q.GetSize(), q.GetSha256()
	}
	if q.GetOffset() != one.next {
		return &pb.PutObjectReply{Next: one.next}, nil // the reply to that part was lost
	}
	if err := one.upload.Append(ctx, q.GetData()); err != nil {
		return nil, err
	}
	if one.next += uint64(len(q.GetData())); one.next < one.size {
		return &pb.PutObjectReply{Next: one.next}, nil
	}
	if err := one.upload.End(ctx, one.sha256); err != nil {
		return nil, err
	}
	one.ended = true
	return &pb.PutObjectReply{Next: one.next, Done: true}, nil
}

// close gives up all transfers.
func (t *transfers) close(ctx context.Context) {
	t.mu.Lock()
	var all []*transfer
	for _, one := range t.all {
		all = append(all, one)
	}
	clear(t.all)
	t.mu.Unlock()
	closeAll(ctx, all)
}
