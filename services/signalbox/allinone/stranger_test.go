package allinone_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/signalbox/allinone"
)

// strangerURL is the variable that makes the process of this test another one, which
// tries to speak to the server at the URL.
const strangerURL = "SIGNALBOX_TEST_STRANGER"

func TestAnotherProcessSpeaksToTheServerOnlyWithThisPersonsPassword(t *testing.T) {
	if url := os.Getenv(strangerURL); url != "" {
		speak(t, url)
		return
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	other := t.TempDir()
	err = runForge(t, allinone.Config{Listen: "127.0.0.1:0"}, func(s *allinone.System) {
		if info, err := os.Stat(s.Login); err != nil {
			t.Error(err)
		} else if info.Mode().Perm() != 0o600 {
			t.Errorf("the password is in %s with %v, want 0600", s.Login, info.Mode())
		}
		if dir, err := os.Getwd(); err != nil || strings.HasPrefix(s.Login, dir) {
			t.Errorf("the password is below the working directory: %s, %v", s.Login, err)
		}
		for _, c := range []struct{ home, want string }{
			{os.Getenv("XDG_CONFIG_HOME"), "replied\n"},
			{other, "refused as nobody\nrefused with a guessed password\nrefused by its own files\n"},
		} {
			child := exec.CommandContext(t.Context(), program, "-test.run=^"+t.Name()+"$")
			child.Env = append(os.Environ(), strangerURL+"="+s.URL, "XDG_CONFIG_HOME="+c.home, "HOME="+c.home)
			out, err := child.CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), c.want) {
				t.Errorf("a process with the files in %s: %v\n%swant %s", c.home, err, out, c.want)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// speak prints what a process with the files of one person gets from the server.
func speak(t *testing.T, url string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	log := slog.New(slog.DiscardHandler)
	nc, err := service.Connect(ctx, service.NATS{URL: url}, "test", log)
	if err == nil {
		defer nc.Close()
		if _, err := nc.RequestWithContext(ctx, "sb.api.list", []byte("{}")); err != nil {
			t.Error(err)
		}
		fmt.Println("replied")
		return
	}
	for _, c := range []struct {
		how   string
		login nats.Option
	}{{"as nobody", nats.Name("nobody")}, {"with a guessed password", nats.UserInfo(service.LocalUser, "password")}} {
		if _, err := nats.Connect(url, c.login); errors.Is(err, nats.ErrAuthorization) {
			fmt.Println("refused", c.how)
		}
	}
	fmt.Println("refused by its own files")
}
