package process_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/signalbox/signalbox/pkg/service/embedded"
	"github.com/signalbox/signalbox/services/signalbox/bench/process"
)

// parent is the argument that makes this binary a parent to kill.
const parent = "parent"

func TestMain(m *testing.M) {
	if len(os.Args) < 2 {
		os.Exit(m.Run())
	}
	var err error
	switch os.Args[1] {
	case process.Name:
		err = process.Serve(context.Background(), os.Stdin, os.Stdout)
	case parent:
		err = serve(os.Args[2])
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve starts a server in a process and waits to be killed.
func serve(dir string) error {
	c, err := process.Start("nats-server")
	if err != nil {
		return err
	}
	var url string
	if err := c.Call(context.Background(), "Server.Start", process.ServerArgs{Dir: dir, Sync: time.Minute}, &url); err != nil {
		return err
	}
	fmt.Println(url)
	select {}
}

// free waits until no server uses the directory.
func free(t *testing.T, dir string) {
	t.Helper()
	server, err := backoff.Retry(t.Context(), func() (*embedded.Server, error) {
		s, err := embedded.Start(embedded.Config{Dir: dir})
		if err != nil && !errors.Is(err, embedded.ErrLocked) {
			err = backoff.Permanent(err)
		}
		return s, err
	}, backoff.WithMaxElapsedTime(time.Minute))
	if err != nil {
		t.Fatalf("its process goes on: %v", err)
	}
	server.Shutdown()
}

func TestAPartEndsWithItsParentHoweverThatEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	cmd := exec.Command(os.Args[0], parent, dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(url, "nats://") {
		t.Errorf("it says %q, %v", url, err)
	}
	if _, err := embedded.Start(embedded.Config{Dir: dir}); !errors.Is(err, embedded.ErrLocked) {
		t.Errorf("while the process runs its directory is free: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	free(t, dir)
}

func TestAPartThatIsClosedLetsGoOfWhatItHad(t *testing.T) {
	c, err := process.Start("nats-server")
	if err != nil {
		t.Fatal(err)
	}
	dir, url := filepath.Join(t.TempDir(), "store"), ""
	if err := c.Call(t.Context(), "Server.Start", process.ServerArgs{Dir: dir, Sync: time.Minute}, &url); err != nil {
		t.Fatal(err)
	}
	if u, err := c.Usage(t.Context()); err != nil || u.CPU <= 0 || u.RSS <= 0 {
		t.Errorf("it used %+v, %v", u, err)
	}
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	free(t, dir)
}

func TestWhatAPartRefusesAndThatItIsGoneAreTold(t *testing.T) {
	c, err := process.Start("agents")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Call(t.Context(), "Server.Start", process.ServerArgs{Dir: "/proc/none"}, new(string)); err == nil ||
		!strings.Contains(err.Error(), "agents: Server.Start: ") {
		t.Errorf("the error is %v", err)
	}
	if err := c.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Usage(t.Context()); err == nil || !strings.Contains(err.Error(), "the process is gone") {
		t.Errorf("the error is %v", err)
	}
}
