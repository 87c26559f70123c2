package allinone

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/signalbox/signalbox/pkg/agent/role"
	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/pkg/service/embedded"
)

func TestWorkTreesOfLongAgoAreRemovedAtAStart(t *testing.T) {
	parent, now := t.TempDir(), time.Now()
	old, used, fresh := filepath.Join(parent, "old"), filepath.Join(parent, "used"), filepath.Join(parent, "fresh")
	for _, dir := range []string{old, used, fresh} {
		lock, err := embedded.Hold(dir)
		if err != nil {
			t.Fatal(err)
		}
		if dir == used {
			defer lock.Close()
		} else if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
		if dir != fresh {
			long := now.Add(-keptFor - time.Hour)
			if err := os.Chtimes(filepath.Join(dir, "signalbox.lock"), long, long); err != nil {
				t.Fatal(err)
			}
		}
	}
	elsewhere, err := holdWork("", filepath.Join(parent, "below the data"), now, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer elsewhere.Close()
	if _, err := os.Stat(old); err != nil {
		t.Errorf("what lies beside work trees in a data directory is removed: %v", err)
	}
	held, err := holdWork(parent, filepath.Join(parent, "mine"), now, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for dir, want := range map[string]bool{old: false, used: true, fresh: true} {
		if _, err := os.Stat(dir); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", dir, err == nil, want)
		}
	}
}

func TestRunsOfLongAgoAreRemovedAtAStart(t *testing.T) {
	parent, now := t.TempDir(), time.Now()
	at := func(name string, part ...string) string {
		return filepath.Join(append([]string{parent, name}, part...)...)
	}
	age := func(name string, days int) {
		t.Helper()
		long := now.Add(-time.Duration(days) * 24 * time.Hour)
		if err := os.Chtimes(at(name, "log", "signalbox.lock"), long, long); err != nil {
			t.Fatal(err)
		}
	}
	for name, days := range map[string]int{"old": 61, "used": 61, "fresh": 59} {
		lock, err := embedded.Hold(at(name, "log"))
		if err != nil {
			t.Fatal(err)
		}
		if name == "used" {
			defer lock.Close()
		} else if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name, "signalbox.log"), []byte("a line\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		age(name, days)
	}
	if err := os.MkdirAll(at("mine"), 0o700); err != nil { // no run ever locked it
		t.Fatal(err)
	}
	removeOld(parent, "log", "", now, nil)
	removeOld(at("absent"), "log", "", now, nil)
	for name, want := range map[string]bool{"old": false, "used": true, "fresh": true, "mine": true} {
		if _, err := os.Stat(at(name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
}

func TestAStartRemovesRunsOfLongAgo(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	runs, err := ResolveDirs()
	if err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(runs, "widgets-1a2b3c")
	lock, err := embedded.Hold(filepath.Join(old, "log"))
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-keptFor - time.Hour)
	if err := os.Chtimes(filepath.Join(old, "log", "signalbox.lock"), long, long); err != nil {
		t.Fatal(err)
	}
	started := false
	err = Run(t.Context(), Config{Dir: t.TempDir(), Sync: time.Second, Workflow: "issue", Every: time.Second, Web: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler),
		Agents: role.Settings{Sandbox: "none", Workers: 1, Wall: time.Minute, Idle: time.Minute}, Flags: service.Flags{Grace: time.Second},
		Main: func(context.Context, *System) error { started = true; return nil }})
	if _, gone := os.Stat(old); !started || !errors.Is(gone, fs.ErrNotExist) {
		t.Errorf("started is %t (%v); the run of long ago: %v", started, err, gone)
	}
}
