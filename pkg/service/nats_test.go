package service_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/engine/eventstore/natstest"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/embedded"
	"github.com/signalbox/signalbox/pkg/testkit/faultproxy"
	"github.com/signalbox/signalbox/pkg/testkit/porttest"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestConnectWaitsForAServerThatComesLater(t *testing.T) {
	addr := porttest.Address(t)
	log := &signalLog{want: "waiting for NATS", seen: make(chan struct{})}
	connected := make(chan error, 1)
	go func() {
		nc, err := service.Connect(t.Context(), service.NATS{URL: "nats://" + addr}, "late", slog.New(slog.NewTextHandler(log, nil)))
		if err == nil {
			nc.Close()
		}
		connected <- err
	}()
	<-log.seen
	s, err := embedded.Start(embedded.Config{Dir: t.TempDir(), Listen: addr})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Shutdown()
	if err := <-connected; err != nil {
		t.Error(err)
	}
}

func TestAConnectionThatDiedWithoutAWordIsMadeAnew(t *testing.T) {
	t.Parallel()
	s := natstest.Start(t, natstest.Options{})
	line := faultproxy.Start(t, strings.TrimPrefix(s.URL, "nats://"))
	nc, err := service.Connect(t.Context(), service.NATS{URL: "nats://" + line.Addr()}, "stranded", quiet())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	lost := nc.StatusChanged(nats.RECONNECTING)
	if n := line.Abandon(); n != 1 {
		t.Fatalf("%d connections are half-open, want 1", n)
	}
	select {
	case <-lost:
	case <-time.After(time.Minute):
		t.Fatal("a half-open connection is trusted for a minute")
	}
	if err := nc.FlushTimeout(time.Minute); err != nil {
		t.Error(err)
	}
}

func TestConnectGivesUpWithItsContextAndSaysWhere(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := service.Connect(ctx, service.NATS{URL: "nats://me:secret@" + porttest.Address(t)}, "impatient", quiet())
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "nats://me:xxxxx@127.0.0.1") {
		t.Errorf("error is %v", err)
	}
}

func TestAUserLogsInWithThePasswordOfAFileAndIsToldWhatItMayNotDo(t *testing.T) {
	options := &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true, Users: []*server.User{{
		Username: "tester", Password: "sesame",
		Permissions: &server.Permissions{Publish: &server.SubjectPermission{Allow: []string{"mine"}}},
	}}}
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer func() { s.Shutdown(); s.WaitForShutdown() }()
	file := filepath.Join(t.TempDir(), "password")
	login := service.NATS{URL: s.ClientURL(), User: "tester", PasswordFile: file}

	t.Run("without a password file the call is wrong", func(t *testing.T) {
		_, err := service.Connect(t.Context(), service.NATS{URL: s.ClientURL(), User: "tester"}, "t", quiet())
		if service.ExitCode(err) != 2 {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("a wrong password is refused, not tried for ever", func(t *testing.T) {
		if err := os.WriteFile(file, []byte("wrong"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := service.Connect(t.Context(), login, "t", quiet()); !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("error is %v", err)
		}
	})
	t.Run("a forbidden subject is logged", func(t *testing.T) {
		if err := os.WriteFile(file, []byte("sesame\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		log := &signalLog{want: "NATS permissions forbid this", seen: make(chan struct{})}
		nc, err := service.Connect(t.Context(), login, "t", slog.New(slog.NewTextHandler(log, nil)))
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		if err := nc.Publish("theirs", nil); err != nil {
			t.Fatal(err)
		}
		<-log.seen
	})
}

// signalLog closes seen when want is written.
type signalLog struct {
	want string
	seen chan struct{}
	once sync.Once
}

func (l *signalLog) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(l.want)) {
		l.once.Do(func() { close(l.seen) })
	}
	return len(p), nil
}

// A server inside a process of this person is found with its password, again
// after it was started again with another, and by nobody who cannot read the file.
func TestTheLoginOfALocalServerIsFoundByItsPort(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir, addr := t.TempDir(), porttest.Address(t)
	serve := func() (*embedded.Server, *service.LocalLogin, string) {
		t.Helper()
		login := service.NewLocalLogin()
		s, err := embedded.Start(embedded.Config{Dir: dir, Listen: addr, User: service.LocalUser, Password: login.Password})
		if err != nil {
			t.Fatal(err)
		}
		path, err := login.Publish(s.ClientURL())
		if err != nil {
			t.Fatal(err)
		}
		return s, login, path
	}
	s, login, path := serve()
	nc, err := service.Connect(t.Context(), service.NATS{URL: "nats://" + addr}, "t", quiet())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	bare, err := service.Connect(t.Context(), service.NATS{URL: addr}, "t", quiet()) // as NATS permits
	if err != nil {
		t.Fatal(err)
	}
	bare.Close()
	inside, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	inside.Close()
	for name, info := range map[string]string{"file": path, "directory": filepath.Dir(path)} {
		if stat, err := os.Stat(info); err != nil || stat.Mode().Perm()&0o077 != 0 {
			t.Errorf("the %s can be read by others: %v, %v", name, stat.Mode(), err)
		}
	}
	reconnected := nc.StatusChanged(nats.CONNECTED)
	s.Shutdown()
	old := login
	s, login, _ = serve()
	defer s.Shutdown()
	if err := old.Withdraw(); err != nil {
		t.Error(err)
	}
	<-reconnected // with the new password, which the old one's end left where it was

	for name, break_ := range map[string]func() error{
		"other people can read the file": func() error { return os.Chmod(path, 0o644) },
		"there is no file":               login.Withdraw,
	} {
		if err := break_(); err != nil {
			t.Fatal(err)
		}
		_, err := service.Connect(t.Context(), service.NATS{URL: "nats://" + addr}, "t", quiet())
		if !errors.Is(err, nats.ErrAuthorization) || !strings.Contains(err.Error(), "--nats-creds") {
			t.Errorf("%s: error is %v", name, err)
		}
		if err := os.WriteFile(path, []byte(login.Password), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
