package embedded_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/signalbox/signalbox/pkg/service/embedded"
)

func start(t *testing.T, c embedded.Config) *embedded.Server {
	t.Helper()
	s, err := embedded.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Shutdown)
	return s
}

func TestWhatIsStoredIsThereAfterARestart(t *testing.T) {
	for name, sync := range map[string]time.Duration{"flushed at each write": 0, "flushed now and then": time.Second} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			config := jetstream.StreamConfig{Name: "LOG", Subjects: []string{"log.>"}}

			s := start(t, embedded.Config{Dir: dir, Sync: sync})
			js := streams(t, s)
			if _, err := js.CreateStream(t.Context(), config); err != nil {
				t.Fatal(err)
			}
			if _, err := js.Publish(t.Context(), "log.a", []byte("kept")); err != nil {
				t.Fatal(err)
			}
			s.Shutdown()

			js = streams(t, start(t, embedded.Config{Dir: dir, Sync: sync}))
			stream, err := js.Stream(t.Context(), "LOG")
			if err != nil {
				t.Fatal(err)
			}
			if m, err := stream.GetMsg(t.Context(), 1); err != nil || string(m.Data) != "kept" {
				t.Errorf("message 1 is %v, %v", m, err)
			}
		})
	}
}

func streams(t *testing.T, s *embedded.Server) jetstream.JetStream {
	t.Helper()
	nc, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func TestADirectoryInUseIsRefusedUntilItIsGivenBack(t *testing.T) {
	dir := t.TempDir()
	first := start(t, embedded.Config{Dir: dir})
	_, err := embedded.Start(embedded.Config{Dir: dir})
	if !errors.Is(err, embedded.ErrLocked) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "(process ") {
		t.Errorf("error is %v", err)
	}
	first.Shutdown()
	start(t, embedded.Config{Dir: dir})
}

func TestOthersConnectOnlyWhereItListens(t *testing.T) {
	t.Run("nowhere", func(t *testing.T) {
		if url := start(t, embedded.Config{Dir: t.TempDir()}).ClientURL(); url != "" {
			t.Errorf("its URL is %s", url)
		}
	})
	t.Run("at a free port", func(t *testing.T) {
		s := start(t, embedded.Config{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
		nc, err := nats.Connect(s.ClientURL())
		if err != nil {
			t.Fatal(err)
		}
		nc.Close()
	})
	t.Run("not at a place that is none", func(t *testing.T) {
		dir := t.TempDir()
		if _, err := embedded.Start(embedded.Config{Dir: dir, Listen: "here"}); err == nil {
			t.Error("it started")
		}
		start(t, embedded.Config{Dir: dir}) // the refused start gave the directory back
	})
}

func TestNothingRunsAfterShutdown(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s, err := embedded.Start(embedded.Config{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	nc, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
	s.Shutdown()
}
