package machine

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestBusyIsAllButIdlingAndWaiting(t *testing.T) {
	got, err := busy("cpu  1 2 4 1000 1000 8 16 32 1000 1000\ncpu0 5 5 5 5\n")
	if err != nil || got != 63*tick {
		t.Errorf("got %v, %v, want %v", got, err, 63*tick)
	}
	for _, stat := range []string{"", "cpu 1 2", "cpu0 1 2 3 4 5 6 7 8", "cpu a 2 3 4 5 6 7 8"} {
		if _, err := busy(stat); err == nil {
			t.Errorf("%q is taken", stat)
		}
	}
}

func TestFlushesAreTheSixteenthFigureOfTheDevice(t *testing.T) {
	const stats = `   8       0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17
 254       0 vda 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37
   7       0 loop0 1 2 3 4 5 6 7 8 9 10 11
`
	if got, err := flushes(stats, "vda"); err != nil || got != 36 {
		t.Errorf("got %d, %v, want 36", got, err)
	}
	for _, name := range []string{"sdb", "loop0"} {
		if _, err := flushes(stats, name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("of %s the error is %v", name, err)
		}
	}
}

func TestAFileSystemWithoutADeviceHasNoFlushes(t *testing.T) {
	if n, err := Flushes("/proc"); err == nil {
		t.Errorf("it has %d", n)
	}
}

func TestSizeIsWhatTheFilesTake(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), make([]byte, 100_000), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := Size(dir); err != nil || n < 0 {
		t.Errorf("it is %d, %v", n, err)
	}
	if _, err := Size(filepath.Join(dir, "none")); err == nil {
		t.Error("what is not there has a size")
	}
}

func TestSizeLeavesOutFilesThatAreDeletedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			below := filepath.Join(dir, "below")
			err := os.MkdirAll(below, 0o700)
			for n := range 20 {
				err = errors.Join(err, os.WriteFile(filepath.Join(below, strconv.Itoa(n)), nil, 0o600))
			}
			if err = errors.Join(err, os.RemoveAll(below)); err != nil {
				stopped <- err
				return
			}
		}
	}()
	for range 500 {
		if _, err := Size(dir); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
}

func TestThisMachineSaysWhatItIs(t *testing.T) {
	i := Read()
	if i.Cores < 1 || !strings.HasPrefix(i.Go, "go") || i.Kernel == "" || i.CPU == "" {
		t.Errorf("it is %+v", i)
	}
	if b, err := Busy(); err == nil && b < time.Second {
		t.Errorf("it was busy for %v since it was started", b)
	}
}
