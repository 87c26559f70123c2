package app_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/pkg/service"
	"github.com/signalbox/signalbox/services/local-forge/app"
)

// file returns the path of a new file with the text.
func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// start runs the service until the test ends and returns the address of the forge.
func start(t *testing.T, args ...string) string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	log, logged := io.Pipe()
	ended := make(chan int, 1)
	m := app.Main()
	m.Stderr = logged
	m.Args = append([]string{"--listen=127.0.0.1:0", "--http=", "--log-format=json"}, args...)
	go func() { ended <- service.Run(ctx, m) }()
	t.Cleanup(func() {
		stop()
		go func() { _, _ = io.Copy(io.Discard, log) }()
		if code := <-ended; code != service.ExitDone {
			t.Errorf("it ended with %d", code)
		}
	})
	for lines := bufio.NewScanner(log); lines.Scan(); {
		var line struct{ Msg, Address string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		if line.Msg == "forge" {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return line.Address
		}
	}
	t.Fatal("the log names no address")
	return ""
}

// get asks for a repository as the owner of the token, by the name host.
func get(t *testing.T, address, host, token string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/api/v3/repos/acme/widgets", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestAForgeIsServedByEachOfItsNamesToWhoHasAToken(t *testing.T) {
	dir := t.TempDir()
	args := []string{"--data=" + dir, "--repo=acme/widgets", "--listen-name=local-forge", "--forge-token-file=" + file(t, "services\n"), "--person-token-file=" + file(t, "anns")}
	address := start(t, args...)
	for _, c := range []struct {
		host, token string
		status      int
		says        string
	}{
		{"local-forge:3000", "services", http.StatusOK, `"clone_url":"http://local-forge:3000/acme/widgets.git"`},
		{"localhost:3000", "anns", http.StatusOK, `"clone_url":"http://localhost:3000/acme/widgets.git"`},
		{"localhost:3000", "another", http.StatusUnauthorized, "Bad credentials"},
		{"elsewhere:3000", "anns", http.StatusMisdirectedRequest, "no server of this name is here"},
	} {
		if status, body := get(t, address, c.host, c.token); status != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s by %s: %d, want %d and %s:\n%s", c.token, c.host, status, c.status, c.says, body)
		}
	}
}

func TestACallThatWouldExposeOrConfuseIsRefused(t *testing.T) {
	one, same, empty := file(t, "one"), file(t, "one"), file(t, "\n")
	two := file(t, "two")
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no token":        {[]string{"--forge-token-file=" + one}, "--person-token-file"},
		"an empty token":  {[]string{"--forge-token-file=" + one, "--person-token-file=" + empty}, "is empty; it needs a token"},
		"one token":       {[]string{"--forge-token-file=" + one, "--person-token-file=" + same}, "it is the services' token"},
		"the bot's login": {[]string{"--forge-token-file=" + one, "--person-token-file=" + two, "--person=signalbox"}, "take another"},
		"all addresses":   {[]string{"--forge-token-file=" + one, "--person-token-file=" + two, "--listen=0.0.0.0:0"}, "--listen-plain takes the responsibility"},
		"no address":      {[]string{"--forge-token-file=" + one, "--person-token-file=" + two, "--listen=3000"}, "want HOST:PORT"},
		"no repository":   {[]string{"--forge-token-file=" + one, "--person-token-file=" + two, "--listen=127.0.0.1:0", "--repo=widgets"}, "--repo: "},
	} {
		t.Run(name, func(t *testing.T) {
			var said bytes.Buffer
			m := app.Main()
			m.Stdout, m.Stderr, m.Args = io.Discard, &said, append([]string{"--http=", "--data=" + t.TempDir()}, c.args...)
			if code := service.Run(t.Context(), m); code != service.ExitUsage || !strings.Contains(said.String(), c.says) {
				t.Errorf("it ends with %d:\n%s", code, &said)
			}
		})
	}
}

func TestHelpNamesNoNATS(t *testing.T) {
	var help bytes.Buffer
	m := app.Main()
	m.Stdout, m.Args = &help, []string{"--help"}
	if code := service.Run(t.Context(), m); code != service.ExitDone || strings.Contains(help.String(), "--nats") || !strings.Contains(help.String(), "--person-token-file") {
		t.Errorf("it ends with %d:\n%s", code, &help)
	}
}
