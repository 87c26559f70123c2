package jetstream_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/nats-io/nats.go"
	natsjs "github.com/nats-io/nats.go/jetstream"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/jetstream"
	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/testkit/faultproxy"
)

const chunk = 128 << 10 // of the client library

// shelf returns the bucket of agents with an object of some chunks in it, read
// through a network of the test's.
func shelf(t *testing.T) (js natsjs.JetStream, objects jetstream.Objects, content []byte, network *faultproxy.Proxy) {
	t.Helper()
	server := natstest.Start(t, natstest.Options{})
	js = server.JetStream(t)
	store, err := jetstream.EnsureObjects(t.Context(), js, 1)
	if err != nil {
		t.Fatal(err)
	}
	content = bytes.Repeat([]byte("0123456789abcde\n"), 5*chunk/16+1)
	for name, data := range map[string][]byte{"long": content, "empty": nil} {
		if _, err := store.PutBytes(t.Context(), name, data); err != nil {
			t.Fatal(err)
		}
	}
	network = faultproxy.Start(t, strings.TrimPrefix(server.URL, "nats://"))
	nc, err := nats.Connect("nats://"+network.Addr(), nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	far, err := natsjs.New(nc)
	if err == nil {
		objects, err = jetstream.OpenObjects(t.Context(), far, jetstream.ObjectBucket)
	}
	if err != nil {
		t.Fatal(err)
	}
	return js, objects, content, network
}

func TestAnObjectIsReadAsItWasPut(t *testing.T) {
	js, objects, content, _ := shelf(t)
	for name, want := range map[string][]byte{"long": content, "empty": {}} {
		r, err := objects.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := iotest.TestReader(r, want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if info, err := r.Info(); err != nil || info.Size != uint64(len(want)) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if got, err := objects.GetBytes(t.Context(), name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	info, err := objects.GetInfo(t.Context(), "long")
	if err == nil {
		_, err = objects.AddLink(t.Context(), "link", info)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, err := objects.GetBytes(t.Context(), "link"); err != nil || !bytes.Equal(got, content) {
		t.Errorf("by a link: %d bytes, %v", len(got), err)
	}
	if _, err := objects.Get(t.Context(), "none"); !errors.Is(err, natsjs.ErrObjectNotFound) {
		t.Errorf("one that is not there: %v", err)
	}
	if _, err := jetstream.OpenObjects(t.Context(), js, "none"); !errors.Is(err, natsjs.ErrBucketNotFound) {
		t.Errorf("a bucket that is not there: %v", err)
	}
}

func TestAnObjectThatIsNotWhatWasPutIsRefused(t *testing.T) {
	js, objects, _, _ := shelf(t)
	info, err := objects.GetInfo(t.Context(), "long")
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "OBJ_"+jetstream.ObjectBucket)
	if err != nil {
		t.Fatal(err)
	}
	chunks := "$O." + info.Bucket + ".C." + info.NUID
	last, err := stream.GetLastMsgForSubject(t.Context(), chunks)
	if err == nil {
		err = stream.DeleteMsg(t.Context(), last.Sequence)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, err := objects.GetBytes(t.Context(), "long"); !errors.Is(err, natsjs.ErrMsgNotFound) || !strings.Contains(err.Error(), "chunk 6 of 6") {
		t.Errorf("without its last chunk: %d bytes, %v", len(got), err)
	}
	if _, err := js.Publish(t.Context(), chunks, last.Data); err != nil {
		t.Fatal(err)
	}
	if _, err := objects.GetBytes(t.Context(), "long"); err != nil {
		t.Errorf("with the same chunk: %v", err)
	}
	again, err := stream.GetLastMsgForSubject(t.Context(), chunks)
	if err == nil {
		err = stream.DeleteMsg(t.Context(), again.Sequence)
	}
	if err == nil {
		_, err = js.Publish(t.Context(), chunks, []byte("another"))
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, err := objects.GetBytes(t.Context(), "long"); !errors.Is(err, natsjs.ErrDigestMismatch) {
		t.Errorf("with another last chunk: %d bytes, %v", len(got), err)
	}
}

// Read waits for no answer once its context has ended, however late that would be.
func TestReadingAnObjectEndsWithItsContext(t *testing.T) {
	_, objects, _, network := shelf(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	r, err := objects.Get(ctx, "long")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadFull(r, make([]byte, chunk)); err != nil {
		t.Fatal(err)
	}
	network.Set(faultproxy.Fault{Down: faultproxy.Way{Cut: true}})
	asked := network.Stats().Up
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, r)
		ended <- err
	}()
	for network.Stats().Up == asked {
		if len(ended) > 0 {
			t.Fatal(<-ended)
		}
		runtime.Gosched()
	}
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("it is still read")
	}
}
