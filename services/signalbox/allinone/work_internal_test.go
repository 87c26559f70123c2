package allinone

import (
	"os"
	"path/filepath"
	"testing"
	"time"

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
			long := now.Add(-workLasts - time.Hour)
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
